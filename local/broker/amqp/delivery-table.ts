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
  #nextToScan = 0;

  constructor(outgoing: Progress) {
    this.#outgoing = outgoing;
  }

  available(): number {
    return 2048;
  }

  push(delivery: SentDelivery): void {
    this.byId.set(delivery.id, delivery);
  }

  by_id(id: number): SentDelivery | undefined {
    return this.byId.get(id);
  }

  /** Called after each flush; frees what was sent settled. What is settled later is freed by `answer`. */
  pop_if(isDone: (delivery: SentDelivery) => boolean): void {
    for (; this.#nextToScan < this.#outgoing.next_pending_delivery; this.#nextToScan++) {
      const delivery = this.byId.get(this.#nextToScan);
      if (delivery !== undefined && isDone(delivery)) this.byId.delete(this.#nextToScan);
    }
  }
}
