import type { DeadLetter } from '../rules/dead-letter.ts';
import type { Delivery } from '../rules/delivery.ts';
import type { Claimant, LedgerRecord } from '../rules/ledger.ts';
import type { Copy } from '../rules/redelivery.ts';

/** Time as the pipeline needs it: two clocks, because the one that tells instants can jump. */
export interface Clock {
  /** Epoch milliseconds on our own clock; may differ from other machines' by minutes. */
  nowUtc(): number;
  /** Milliseconds that only ever grow, for durations. */
  monotonicInMs(): number;
  /** Resolves after `delayInMs`, or at once when the signal fires. Never rejects. */
  sleep(delayInMs: number, signal?: AbortSignal): Promise<void>;
}

/** Why a copy was not accepted, see {@link SendError}. */
export type SendErrorCode = 'unavailable' | 'tooLarge' | 'refused';

/**
 * Why a copy was not accepted. `unavailable`: the way to the queue is closed, which may pass, by itself or once somebody
 * opens it (a right that is missing, a queue that is disabled). `tooLarge` and `refused`: this copy will never be accepted.
 */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly code: SendErrorCode;

  constructor(code: SendErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Sends delayed copies. */
export interface Sender {
  /** The largest message that the queue takes, once the link is open; the Standard tier's where absent. */
  readonly maxMessageInBytes?: number;
  /**
   * Resolves once the broker has accepted the copy, to become active at `copy.dueUtc`. Sending the same copy twice is
   * harmless: its MessageId is the same, and the ledger ends the second one. Retries passing faults for a while.
   *
   * @throws SendError where the broker has not accepted it, or has not said so
   */
  send(delivery: Delivery, copy: Copy): Promise<void>;
}

/** Settles deliveries, each at most once. Every call may fail: then the lock ends by itself and the next delivery goes on. */
export interface Settlement {
  /** Takes the message off its queue for good. */
  complete(delivery: Delivery): Promise<void>;
  /** Gives the message back to the head of its queue at once; its delivery count rises. */
  abandon(delivery: Delivery): Promise<void>;
  /** Moves the message to the dead-letter queue, with a reason and properties that are within the limits already. */
  deadLetter(delivery: Delivery, deadLetter: DeadLetter): Promise<void>;
  /** Extends the lock by the entity's lock duration. @throws where the lock is lost */
  renewLock(delivery: Delivery): Promise<void>;
}

/** An event in the ledger. */
export interface EventKey {
  /** Entity and consumer, as in `retry-consumer`. */
  readonly consumer: string;
  readonly eventId: string;
}

/** Our hold on a record, from a claim: the record as we wrote it last, and its version. Opaque to the pipeline but for the record. */
export interface Hold {
  readonly key: EventKey;
  readonly record: LedgerRecord;
  /** Version of the record's last write by us; every write is fenced by it. */
  readonly etag: string;
}

/** The ledger's answer to a claim. */
export type Claim =
  /** The record is `inProgress` and ours until its lease ends. */
  | { readonly kind: 'run'; readonly hold: Hold }
  /** As `run`, but only to send the copy of `attempt` again. */
  | {
      readonly kind: 'sendAgain';
      readonly hold: Hold;
      /** The attempt whose copy is missing. */
      readonly attempt: number;
      readonly unsent: UnsentCopy;
    }
  /** Held elsewhere; `leaseEndsInMs` from now. */
  | { readonly kind: 'busy'; readonly leaseEndsInMs: number; readonly isNext: boolean }
  /** Dead-letter with these, then confirm by the hold. */
  | { readonly kind: 'repeatDeadLetter'; readonly hold: Hold; readonly reason: string; readonly description: string }
  /** `result`: what the handler had returned, as JSON, where it had returned something. */
  | { readonly kind: 'duplicate'; readonly result?: string | undefined }
  | { readonly kind: 'stale' }
  /** The id is known with another content; the record is not this event's and stays as it is. */
  | { readonly kind: 'conflict'; readonly fingerprint: string };

/** What an `unsent` record keeps of the copy that could not be sent. */
export interface UnsentCopy {
  readonly dueUtc: number;
  readonly code: string;
  readonly message: string;
}

/** What can be recorded under a hold. */
export type Entry =
  /** `result`: what the handler returned, as JSON of at most 8 KB, for duplicates. */
  | { readonly kind: 'completed'; readonly result?: string | undefined }
  /** The copy of `attempt` is accepted, to become active at `dueUtc`. */
  | { readonly kind: 'scheduled'; readonly attempt: number; readonly dueUtc: number }
  | { readonly kind: 'unsent'; readonly attempt: number; readonly copy: UnsentCopy }
  | { readonly kind: 'released' }
  | {
      readonly kind: 'deadLettering';
      readonly messageId: string;
      readonly reason: string;
      readonly description: string;
    }
  /**
   * Confirms `deadLettering` after the settlement; keeps what that recorded and does not move `since`. `messageId` is
   * of the message that went, which is another where an earlier copy repeated the dead letter.
   */
  | { readonly kind: 'deadLettered'; readonly messageId?: string };

/** Why the store did not answer, see {@link LedgerError}. */
export type LedgerErrorCode = 'unavailable' | 'throttled' | 'forbidden';

/** Why the store did not answer; `retryAfterInMs` where it said when to come back. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: LedgerErrorCode;
  readonly retryAfterInMs: number | undefined;

  constructor(code: LedgerErrorCode, message: string, options: ErrorOptions & { retryAfterInMs?: number } = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterInMs = options.retryAfterInMs;
  }
}

/** Idempotency by the table of design section 7. One record an event; instants in it are the store's. */
export interface Ledger {
  /** The store's clock now, where it is known: another machine's witness of the time, when ours may be minutes off. */
  serverNowUtc?(): number | undefined;
  /**
   * Claims the event for a delivery, or says why not. A claim writes `inProgress` with a lease of `leaseInMs` by the
   * store's clock; of several claimants at once exactly one gets it. Asking again with the same owner gives the same
   * hold: a lost reply is no loss.
   *
   * @param mayExist whether a record is likely, so that one read may save a failing insert
   * @throws LedgerError where the store does not answer
   */
  claim(key: EventKey, claimant: Claimant, leaseInMs: number, mayExist: boolean): Promise<Claim>;
  /**
   * Writes under a hold, fenced by its version: `leaseLost` where someone else has written since, and then nothing was
   * written. A reply that got lost is recognised by reading once.
   *
   * @throws LedgerError where the store does not answer: it may or may not have been written
   */
  record(
    hold: Hold,
    entry: Entry,
  ): Promise<{ readonly kind: 'recorded'; readonly hold: Hold } | { readonly kind: 'leaseLost' }>;
}

/** How one delivery ended. */
export type Outcome =
  | 'succeeded'
  | 'redelivered'
  | 'deferred'
  | 'dead-lettered'
  | 'duplicate'
  | 'stale'
  | 'released'
  | 'left';

/** What became of one delivery, for logs and metrics. */
export interface Report {
  readonly consumer: string;
  readonly eventId: string;
  readonly messageId: string;
  readonly sequenceNumber: string;
  readonly deliveryCount: number;
  readonly generation: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly tries: number;
  readonly outcome: Outcome;
  /** Reason code of a dead letter; otherwise what failed or why it was left; absent where nothing failed. */
  readonly reason?: string;
  readonly description?: string;
  /** Until the next attempt, for copies. */
  readonly delayInMs?: number;
  readonly durationInMs: number;
  /** The handler ignored its signal and runs on: its process should end. */
  readonly stillRuns?: boolean;
}

/** How much an operator has to care. */
export type Level = 'information' | 'warning' | 'error';

/** What can be seen of the consumer. No call fails or blocks. */
export interface Telemetry {
  /** One for each delivery, whatever became of it. */
  processed(report: Report): void;
  /** Something an operator may want to know that does not end a delivery. */
  log(level: Level, message: string, details?: Readonly<Record<string, unknown>>): void;
}
