import type { Sender } from 'rhea';
import type { Faults } from '../faults/faults.ts';
import type { ReceiveMode, Settlement } from '../model/outcomes.ts';
import type { Queue } from '../model/queue.ts';
import type { SessionHold } from '../model/session-table.ts';
import { deliveredBytes } from './codec/delivered-bytes.ts';
import { deliveryTag } from './codec/lock-token.ts';
import { CONDITION, messageLockLost, sessionLockLost } from './conditions.ts';
import type { SentDelivery } from './delivery-table.ts';
import type { Consumer } from './dispatcher.ts';
import { settlementProblem } from './limits.ts';
import { confirmed, rejected } from './outcomes.ts';
import {
  answer,
  answerDrain,
  availableCredit,
  isDraining,
  prepareDrain,
  sendBytes,
  unsentCount,
} from './rhea-internals.ts';

/** What a link hands over and which delivery holds which lock. */
export type ConsumerOptions = {
  readonly sender: Sender;
  readonly queue: Queue;
  readonly mode: ReceiveMode;
  /** The lock on the session that the link serves, if it serves one. */
  readonly hold: SessionHold | undefined;
  readonly faults: Faults;
};

/** A client's receiver, seen from the broker: the link on which it gets messages and settles them. */
export class ConsumerLink implements Consumer {
  readonly #options: ConsumerOptions;
  /** Locks by delivery. A lock that has ended stays here, so that a late settlement is answered instead of ignored. */
  readonly #lockTokens = new Map<number, string>();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    prepareDrain(options.sender);
  }

  wantsMore(): boolean {
    return this.#options.sender.is_open() && availableCredit(this.#options.sender) > 0;
  }

  sendNext(): boolean {
    const { sender, mode, queue, hold } = this.#options;
    const delivery = queue.receive(mode, hold);
    if (delivery === undefined) return false;
    const { message, lockToken, deliveryCount, lockedUntilUtc } = delivery;
    if (mode === 'receiveAndDelete' || lockToken === undefined) {
      sendBytes(sender, deliveredBytes(message, { deliveryCount, lockedUntilUtc: undefined }), undefined, true);
    } else {
      const bytes = deliveredBytes(message, { deliveryCount, lockedUntilUtc });
      const sent = sendBytes(sender, bytes, deliveryTag(lockToken), false);
      this.#lockTokens.set(sent.id, lockToken);
    }
    return true;
  }

  /** Answers a drain once everything that was taken for this link is on its way; the SDK waits 200 ms for the answer. */
  drainIfAsked(): void {
    const { sender } = this.#options;
    if (isDraining(sender) && unsentCount(sender) === 0) answerDrain(sender);
  }

  /**
   * Settles what the client has settled, and tells it whether that took effect: a stale settlement is never accepted.
   * Without a `settlement` the client has only forgotten the delivery.
   */
  onDisposition(sent: SentDelivery, settlement: Settlement | undefined): void {
    const lockToken = this.#lockTokens.get(sent.id);
    this.#lockTokens.delete(sent.id);
    const isKnown = lockToken !== undefined && settlement !== undefined;
    const outcome = isKnown ? this.#settle(lockToken, settlement) : undefined;
    this.#options.faults.reply('settlement', () => answer(sent, outcome));
  }

  /** @returns the outcome that tells the client what became of it */
  #settle(lockToken: string, settlement: Settlement): unknown {
    const { queue, hold } = this.#options;
    const problem = settlementProblem(queue.locked(lockToken), settlement);
    if (problem !== undefined) return rejected(problem);
    const result = queue.settle(lockToken, settlement);
    switch (result.kind) {
      case 'settled':
        return confirmed(settlement.kind);
      case 'lockLost':
        return rejected(hold?.isOver ? sessionLockLost : messageLockLost);
      case 'unsupported':
        return rejected({ condition: CONDITION.notAllowed, description: result.detail });
    }
  }
}
