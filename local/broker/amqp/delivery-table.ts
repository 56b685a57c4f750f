import type { Sender } from 'rhea';

/** One message that was sent to a client and not settled on our side yet. */
export type SentDelivery = {
  readonly id: number;
  readonly link: Sender;
  settled: boolean;
  remote_settled: boolean;
  update(settled: boolean, state?: unknown): void;
};

/** How far rhea has come with sending: deliveries below `next_pending_delivery` are on their way. */
type Progress = { readonly next_pending_delivery: number };

/**
 * Sent deliveries by id, in place of rhea's ring, which holds 2048 and frees its head only: one message held for long
 * would stop the link.
 */
export class DeliveryTable {
  readonly byId = new Map<number, SentDelivery>();
  readonly #outgoing: Progress;
  /** How many deliveries of each link wait for a flush or for the client's window. */
  readonly #unsent = new Map<Sender, number>();
  #nextToScan = 0;

  constructor(outgoing: Progress) {
    this.#outgoing = outgoing;
  }

  available(): number {
    return 2048;
  }

  push(delivery: SentDelivery): void {
    this.byId.set(delivery.id, delivery);
    this.#unsent.set(delivery.link, this.unsentOn(delivery.link) + 1);
  }

  unsentOn(link: Sender): number {
    return this.#unsent.get(link) ?? 0;
  }

  by_id(id: number): SentDelivery | undefined {
    return this.byId.get(id);
  }

  /** What was sent of the range, which comes from the client: a wide one must not cost more than what was sent and waits. */
  sentBetween(first: number, last: number): SentDelivery[] {
    const end = Math.min(last, this.#outgoing.next_pending_delivery - 1);
    if (end - first >= this.byId.size) return [...this.byId.values()].filter(({ id }) => id >= first && id <= end);
    const found: SentDelivery[] = [];
    for (let id = first; id <= end; id++) {
      const delivery = this.byId.get(id);
      if (delivery !== undefined) found.push(delivery);
    }
    return found;
  }

  /** Called after each flush; frees what was sent settled. What is settled later is freed by `answer`. */
  pop_if(isDone: (delivery: SentDelivery) => boolean): void {
    for (; this.#nextToScan < this.#outgoing.next_pending_delivery; this.#nextToScan++) {
      const delivery = this.byId.get(this.#nextToScan);
      if (delivery === undefined) continue;
      this.#countSent(delivery.link);
      if (isDone(delivery)) this.byId.delete(delivery.id);
    }
  }

  #countSent(link: Sender): void {
    const left = this.unsentOn(link) - 1;
    if (left === 0) this.#unsent.delete(link);
    else this.#unsent.set(link, left);
  }
}
