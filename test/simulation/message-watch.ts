import type { Delivery } from '../../functions/core/rules/delivery.ts';
import { DEAD_LETTER_REASON, PROPERTY } from '../../functions/core/rules/envelope.ts';
import type { StoredMessage } from '../../local/broker/model/stored-message.ts';
import { type SimulatedContent, simulated } from './message.ts';
import type { World } from './world.ts';

/** More messages than any one life has on its queue. */
const ALL = 1_000;
/** A message that is delivered more often than this in a row is in a hot loop. */
const MOST_IN_A_ROW = 5;
const ROW_IN_MS = 2_000;
/** Deliveries of a life with every fault that there is; and as many again for each dead letter that is brought back. */
const MOST_DELIVERIES = 400;
/** So many times as many where nobody drops what is sent twice: while no settlement succeeds, each deferral doubles. */
const WITHOUT_DUPLICATE_DETECTION = 10;

/** Watches the messages of all events: where they are, how often they are delivered and settled. */
export class MessageWatch {
  readonly #world: World;
  readonly #events = new Set<string>();
  readonly #settled = new Map<string, string>();
  readonly #deliveredUtc = new Map<number, number[]>();
  deliveries = 0;
  /** How often an operator has brought a dead letter back. */
  broughtBack = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The producer has published an event. */
  produced(eventId: string): void {
    this.#events.add(eventId);
  }

  delivered(message: StoredMessage): void {
    this.deliveries++;
    const { verdicts, timeline, options } = this.#world;
    if (options.forgetsCompleted) return;
    const times = this.#deliveredUtc.get(message.sequenceNumber) ?? [];
    times.push(timeline.nowUtc);
    this.#deliveredUtc.set(message.sequenceNumber, times);
    const first = times.at(-MOST_IN_A_ROW);
    if (first !== undefined && timeline.nowUtc - first < ROW_IN_MS) {
      verdicts.violated(
        'hot loop',
        `${simulated(message).messageId}: ${MOST_IN_A_ROW} deliveries in ${timeline.nowUtc - first} ms`,
      );
    }
    const isDeduplicated = this.#world.queue.settings.duplicateDetectionWindowInMs !== undefined;
    const most = MOST_DELIVERIES * (1 + this.broughtBack) * (isDeduplicated ? 1 : WITHOUT_DUPLICATE_DETECTION);
    if (this.deliveries === most) verdicts.violated('does not end', `${most} deliveries`);
  }

  /** The broker itself ends a lock before its time: what comes of that is not a loop. */
  lostLock({ sequenceNumber }: StoredMessage): void {
    this.#deliveredUtc.get(sequenceNumber)?.pop();
  }

  /** A consumer sends a copy. */
  sent(content: SimulatedContent, dueUtc: number): void {
    const { queue, verdicts, options } = this.#world;
    const windowInMs = queue.settings.duplicateDetectionWindowInMs;
    const twin = windowInMs === undefined || options.forgetsCompleted ? undefined : this.#twinOf(content, windowInMs);
    const isAccepted = this.#world.send(content, dueUtc);
    if (isAccepted && twin) verdicts.violated('fork', `${content.messageId} beside ${simulated(twin).messageId}`);
  }

  /** A copy of the same attempt that lives already, from within the window in which a second one must be dropped. */
  #twinOf(content: SimulatedContent, windowInMs: number): StoredMessage | undefined {
    if (isDeferral(content)) return undefined;
    return this.#world.queue.peek(0, ALL).find((message) => {
      const other = simulated(message);
      return (
        other.sentBy === 'consumer' &&
        other.eventId === content.eventId &&
        !isDeferral(other) &&
        placeOf(other) === placeOf(content) &&
        content.sentUtc - other.sentUtc < windowInMs
      );
    });
  }

  /** A consumer asks for a settlement. */
  settles({ lockToken, messageId }: Delivery, how: string): void {
    if (this.#world.options.forgetsCompleted) return;
    const earlier = this.#settled.get(lockToken);
    if (earlier) this.#world.verdicts.violated('settled twice', `${messageId}: ${earlier}, then ${how}`);
    this.#settled.set(lockToken, how);
  }

  /** A delivery is about to be completed at the broker: what remains of its event? */
  completing(delivery: Delivery): void {
    const { queue, deadLetters, effects, verdicts, options } = this.#world;
    if (options.forgetsCompleted) return;
    const message = queue.locked(delivery.lockToken);
    if (!message) return;
    const { eventId } = simulated(message);
    if (effects.isCompleted(eventId)) return;
    const remains = (other: StoredMessage) => other !== message && simulated(other).eventId === eventId;
    if (queue.peek(0, ALL).some(remains) || deadLetters.peek(0, ALL).some(remains)) return;
    verdicts.violated(
      'completed too early',
      `${delivery.messageId} (seq ${delivery.sequenceNumber}) was all that was left of ${eventId}`,
    );
  }

  finish(): void {
    const { deadLetters, queue, effects, verdicts } = this.#world;
    const dead = deadLetters.peek(0, ALL);
    for (const message of dead) {
      if (!message.properties?.get(DEAD_LETTER_REASON)) {
        verdicts.violated('dead letter without a reason', String(simulated(message).messageId));
      }
    }
    const left = new Set([...dead, ...queue.peek(0, ALL)].map((message) => simulated(message).eventId));
    for (const eventId of this.#events) {
      if (!left.has(eventId) && !effects.isCompleted(eventId)) verdicts.violated('lost', eventId);
    }
  }
}

const isDeferral = ({ properties }: SimulatedContent): boolean => properties.has(PROPERTY.deferrals);

const placeOf = ({ properties }: SimulatedContent): string =>
  `${properties.get(PROPERTY.generation)?.value ?? 0}:${properties.get(PROPERTY.attempt)?.value}`;
