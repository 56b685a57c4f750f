/** Something that happens at an instant, unless it is cancelled before. */
export interface Appointment {
  readonly dueUtc: number;
  readonly order: number;
  /** Absent once it has happened or was cancelled. */
  run: (() => void) | undefined;
}

const isBefore = (a: Appointment, b: Appointment): boolean =>
  a.dueUtc < b.dueUtc || (a.dueUtc === b.dueUtc && a.order < b.order);

const SWEPT_ABOVE = 1_024;

/** The virtual time of one world: it stands still while anything runs and jumps to the next appointment. */
export class Timeline {
  nowUtc: number;
  #heap: Appointment[] = [];
  #order = 0;
  #cancelled = 0;

  constructor(startUtc: number) {
    this.nowUtc = startUtc;
  }

  /** Equal instants come in the order in which they were made. */
  in(delayInMs: number, run: () => void): Appointment {
    const appointment = { dueUtc: this.nowUtc + Math.max(0, delayInMs), order: this.#order++, run };
    this.#push(appointment);
    return appointment;
  }

  cancel(appointment: Appointment): void {
    if (!appointment.run) return;
    appointment.run = undefined;
    // They leave when they are due, or together once they are the greater part.
    if (++this.#cancelled > SWEPT_ABOVE && this.#cancelled > this.#heap.length / 2) this.#sweep();
  }

  #sweep(): void {
    const kept = this.#heap.filter(({ run }) => run);
    this.#heap = [];
    this.#cancelled = 0;
    for (const appointment of kept) this.#push(appointment);
  }

  /** Instant of the next appointment, `Infinity` where there is none. */
  nextDueUtc(): number {
    let first = this.#heap[0];
    while (first && !first.run) {
      this.#pop();
      this.#cancelled--;
      first = this.#heap[0];
    }
    return first ? first.dueUtc : Number.POSITIVE_INFINITY;
  }

  /** Keeps the next appointment. */
  runNext(): void {
    const next = this.#pop();
    if (!next) return;
    this.nowUtc = Math.max(this.nowUtc, next.dueUtc);
    const { run } = next;
    next.run = undefined;
    if (run) run();
    else this.#cancelled--;
  }

  #push(appointment: Appointment): void {
    const heap = this.#heap;
    let index = heap.push(appointment) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above] as Appointment;
      if (!isBefore(appointment, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = appointment;
  }

  #pop(): Appointment | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let least = 2 * index + 1;
      if (least >= heap.length) break;
      const right = heap[least + 1];
      if (right && isBefore(right, heap[least] as Appointment)) least++;
      const child = heap[least] as Appointment;
      if (!isBefore(child, last)) break;
      heap[index] = child;
      index = least;
    }
    heap[index] = last;
    return first;
  }
}
