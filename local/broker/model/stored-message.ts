import type { Content, PropertyValue } from './content.ts';
import type { TimerNode } from './timer-heap.ts';

/**
 * Where a message stands in its entity:
 * - `scheduled`: waits for its enqueue time, see {@link ScheduledMessage}, and is only shown as a stored one;
 * - `active`: can be received;
 * - `locked`: a receiver holds it;
 * - `deferred`: can be received by its sequence number only;
 * - `gone`: completed, expired, dropped or moved away.
 */
export type MessageState = 'scheduled' | 'active' | 'locked' | 'deferred' | 'gone';

/** What a stored message needs from the queue that holds it. */
export interface Home {
  onMessageDue(message: StoredMessage, instantUtc: number): void;
}

/** Where a message is until a queue has taken it in. */
const nowhere: Home = { onMessageDue: () => {} };

/**
 * A message inside an entity. It is its own timer: at any time it waits for one instant at most, which is the end of the
 * lock while locked, the expiry otherwise.
 */
export class StoredMessage implements TimerNode {
  dueUtc = Number.POSITIVE_INFINITY;
  heapOrder = 0;
  heapIndex = -1;

  state: MessageState = 'active';
  /** Unique in the entity; kept when the message moves to the entity's dead-letter queue. */
  sequenceNumber: number;
  /** The sequence number that the message had where it was first sent. */
  enqueueSequenceNumber: number;
  /** Place in the order of delivery within its queue. */
  position: number;
  /** When the message became active, in epoch milliseconds; when it was sent, while it is scheduled. */
  enqueuedUtc: number;
  /** Set while the sender asked for a later enqueue time. */
  scheduledUtc: number | undefined;
  /** Effective time to live, `Infinity` for none. */
  timeToLiveInMs = Number.POSITIVE_INFINITY;
  /** `Infinity` for never. */
  expiresUtc = Number.POSITIVE_INFINITY;
  /** Deliveries that ended without a settlement or by abandon. 0 on the first delivery. */
  deliveryCount = 0;
  /** Set while locked. */
  lockToken: string | undefined;
  /** End of the lock while locked, in epoch milliseconds. */
  lockedUntilUtc = 0;
  /** Whether the message was deferred once: it then goes back to `deferred`, not to `active`, when a lock ends. */
  isDeferred = false;
  /** Application properties added by settlements. */
  properties: Map<string, PropertyValue> | undefined;
  /** Path of the entity from whose dead-letter queue the message was forwarded here. */
  deadLetterSource: string | undefined;
  /** Entities passed by automatic forwarding. */
  hops = 0;

  readonly content: Content;
  /** The queue that holds it. */
  home: Home = nowhere;

  constructor(content: Content, sequenceNumber: number, enqueuedUtc: number) {
    this.content = content;
    this.sequenceNumber = sequenceNumber;
    this.enqueueSequenceNumber = sequenceNumber;
    this.position = sequenceNumber;
    this.enqueuedUtc = enqueuedUtc;
  }

  onDue(instantUtc: number): void {
    this.home.onMessageDue(this, instantUtc);
  }

  /** Adds or replaces application properties. */
  addProperties(properties: ReadonlyMap<string, PropertyValue> | undefined): void {
    if (properties === undefined || properties.size === 0) return;
    this.properties ??= new Map();
    for (const [name, value] of properties) this.properties.set(name, value);
  }
}
