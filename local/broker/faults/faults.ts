/** What a reply answers. `request` is any management request but `schedule` and `settlement`, which also come that way. */
export const REPLIES = ['send', 'schedule', 'settlement', 'request'] as const;
export type ReplyKind = (typeof REPLIES)[number];

/** How a send can be refused: for want of a right, or because the service is busy, which clients try again. */
export const REFUSALS = ['Unauthorized', 'ServerBusy'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What is set at present. */
export type FaultState = {
  /** How many of the next replies of each kind are carried out and then kept from the client. */
  readonly dropReplies: Readonly<Partial<Record<ReplyKind, number>>>;
  /** How long each reply is held back, in milliseconds. */
  readonly delayRepliesInMs: number;
  /** How the next sends, scheduled ones included, are refused. */
  readonly refuseSends: { readonly as: Refusal; readonly count: number } | undefined;
};

/**
 * Faults that tests and operators ask for. What a reply answers has happened when the reply is dropped or late: that is
 * what a client cannot know.
 */
export class Faults {
  #dropReplies: Partial<Record<ReplyKind, number>> = {};
  #delayRepliesInMs = 0;
  #refuseSends: FaultState['refuseSends'];
  readonly #timers = new Set<NodeJS.Timeout>();

  get state(): FaultState {
    return {
      dropReplies: { ...this.#dropReplies },
      delayRepliesInMs: this.#delayRepliesInMs,
      refuseSends: this.#refuseSends,
    };
  }

  /** Keeps the next `count` replies of that kind from their clients. */
  dropReplies(kind: ReplyKind, count = 1): void {
    this.#dropReplies[kind] = count;
  }

  /** Holds every reply back for so long; 0 ends it. */
  delayReplies(inMs: number): void {
    this.#delayRepliesInMs = inMs;
  }

  /**
   * Refuses the next `count` sends; `Infinity` until {@link Faults.clear}. Whoever may not send at all cannot open a link
   * to send on either.
   */
  refuseSends(as: Refusal, count = 1): void {
    this.#refuseSends = count > 0 ? { as, count } : undefined;
  }

  /** Sets nothing any more. Replies that are held back still come. */
  clear(): void {
    this.#dropReplies = {};
    this.#delayRepliesInMs = 0;
    this.#refuseSends = undefined;
  }

  /** Forgets the replies that are held back, and their timers. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Lets a reply go: now, later or never, as the faults say. */
  reply(kind: ReplyKind, send: () => void): void {
    const left = this.#dropReplies[kind] ?? 0;
    if (left > 0) {
      this.#dropReplies[kind] = left - 1;
      return;
    }
    if (this.#delayRepliesInMs === 0) {
      send();
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      send();
    }, this.#delayRepliesInMs);
    this.#timers.add(timer);
  }

  /** Whether a link to send on is refused, as the service does for want of the right. */
  get refusesSenders(): boolean {
    return this.#refuseSends?.as === 'Unauthorized' && this.#refuseSends.count === Number.POSITIVE_INFINITY;
  }

  /** How a send that comes now is refused, if it is; that uses up one refusal. */
  takeRefusal(): Refusal | undefined {
    const refusal = this.#refuseSends;
    if (refusal === undefined) return undefined;
    this.refuseSends(refusal.as, refusal.count - 1);
    return refusal.as;
  }
}
