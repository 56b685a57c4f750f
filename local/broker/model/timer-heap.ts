/**
 * Something that falls due. The node holds its own place in the heap, so that a hundred thousand waiting messages cost
 * three numbers each and a cancellation costs O(log n). A node waits for at most one instant at a time.
 */
export interface TimerNode {
  /** Instant in epoch milliseconds; the heap orders by it. Only the heap writes it. */
  dueUtc: number;
  /** Tie-breaker: equal instants fire in the order in which they were set. Only the heap writes it. */
  heapOrder: number;
  /** Place in the heap, -1 when not waiting. Only the heap writes it. */
  heapIndex: number;
  /** Called once, with the instant at which it was due, which may lie before the present. */
  onDue(instantUtc: number): void;
}

/**
 * The one heap that decides what is due next in a namespace. One heap instead of one timer a message: a runtime timer
 * set further ahead than 24.8 days fires at once.
 */
export class TimerHeap {
  readonly #nodes: TimerNode[] = [];
  #order = 0;
  /** Called when a node has become the earliest of all. */
  onEarlier: () => void = () => {};

  /** How many nodes wait. */
  get size(): number {
    return this.#nodes.length;
  }

  /** The instant of the earliest node, `Infinity` when none waits. */
  get nextDueUtc(): number {
    return this.#nodes[0]?.dueUtc ?? Number.POSITIVE_INFINITY;
  }

  /** Makes `node` wait for `dueUtc`, in place of what it waited for before. `Infinity` means never. */
  set(node: TimerNode, dueUtc: number): void {
    if (dueUtc === Number.POSITIVE_INFINITY) {
      this.cancel(node);
      return;
    }
    node.dueUtc = dueUtc;
    node.heapOrder = this.#order++;
    // A node that waits moves from where it stands: a message that is locked falls due a little later than the locks before it.
    if (node.heapIndex < 0) node.heapIndex = this.#nodes.push(node) - 1;
    else this.#sink(node);
    this.#rise(node);
    if (node.heapIndex === 0) this.onEarlier();
  }

  /** Makes `node` wait no longer; nothing happens when it does not wait. */
  cancel(node: TimerNode): void {
    if (node.heapIndex < 0) return;
    const hole = node.heapIndex;
    node.heapIndex = -1;
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return;
    this.#place(last, hole);
    this.#rise(last);
    this.#sink(last);
  }

  /** Fires every node due at or before `nowUtc`, in order, those included that are set while it runs. */
  runUntil(nowUtc: number): void {
    for (let node = this.#nodes[0]; node !== undefined && node.dueUtc <= nowUtc; node = this.#nodes[0]) {
      const instantUtc = node.dueUtc;
      this.cancel(node);
      node.onDue(instantUtc);
    }
  }

  #rise(node: TimerNode): void {
    while (node.heapIndex > 0) {
      const above = (node.heapIndex - 1) >> 1;
      const parent = this.#nodes[above];
      if (parent === undefined || !isBefore(node, parent)) return;
      this.#place(parent, node.heapIndex);
      this.#place(node, above);
    }
  }

  #sink(node: TimerNode): void {
    for (;;) {
      const left = this.#nodes[2 * node.heapIndex + 1];
      const right = this.#nodes[2 * node.heapIndex + 2];
      const least = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
      if (least === undefined || !isBefore(least, node)) return;
      const below = least.heapIndex;
      this.#place(least, node.heapIndex);
      this.#place(node, below);
    }
  }

  #place(node: TimerNode, index: number): void {
    this.#nodes[index] = node;
    node.heapIndex = index;
  }
}

function isBefore(a: TimerNode, b: TimerNode): boolean {
  return a.dueUtc < b.dueUtc || (a.dueUtc === b.dueUtc && a.heapOrder < b.heapOrder);
}
