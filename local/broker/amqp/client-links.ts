import type { Receiver, Sender } from 'rhea';
import type { Queue } from '../model/queue.ts';
import { givesMessages } from '../model/queue-settings.ts';
import type { SessionHold } from '../model/session-table.ts';
import { parseAddress } from './address.ts';
import { refuseAttach } from './attach.ts';
import { type AttachedConsumer, attachToQueue } from './attached-consumer.ts';
import { CONDITION, entityDisabled, entityNotFound } from './conditions.ts';
import type { SentDelivery } from './delivery-table.ts';
import { MOST_BYTES_OF_A_REQUEST, messageTooLarge } from './limits.ts';
import type { LinkServices } from './link-services.ts';
import type { ManagementRequest } from './management/request.ts';
import { rejected } from './outcomes.ts';
import { type IncomingDelivery, mostBytesOn, setAttach } from './rhea-internals.ts';
import { settlementOf } from './settlement.ts';
import { type Take, takerFor } from './takers.ts';
import type { WireValue } from './wire-values.ts';

const PRODUCER_CREDIT = 1000;
const SETTLED = 1;

/** The links of one connection, from their attach to their end. */
export class ClientLinks {
  readonly #services: LinkServices;
  readonly #consumers = new Map<Sender, AttachedConsumer>();
  readonly #producers = new Map<Receiver, Take>();
  readonly #replyLinks = new Map<string, Sender>();

  constructor(services: LinkServices) {
    this.#services = services;
  }

  /** The client has attached a receiver. */
  attachConsumer(sender: Sender): void {
    const text = sender.source?.address ?? '';
    const address = parseAddress(text);
    setAttach(sender, { snd_settle_mode: sender.snd_settle_mode, rcv_settle_mode: sender.rcv_settle_mode });
    // The session filter is not echoed: a client takes it for the session that it was given.
    sender.set_source({ address: text });
    sender.set_target({ address: sender.target?.address ?? '' });
    if (address.kind !== 'entity') {
      this.#replyLinks.set(sender.name, sender);
      if (sender.target?.address) this.#replyLinks.set(sender.target.address, sender);
      return;
    }
    const queue = this.#services.namespace.find(address.path);
    if (queue === undefined) {
      refuseAttach(sender, entityNotFound(text));
      return;
    }
    if (queue.kind === 'topic' || queue.settings.forwardTo !== undefined) {
      const description = `Messages cannot be received from '${text}': it is a topic, or forwards all of them.`;
      refuseAttach(sender, { condition: CONDITION.notAllowed, description });
      return;
    }
    if (!givesMessages(queue.settings.status)) {
      refuseAttach(sender, entityDisabled(text));
      return;
    }
    const mode = sender.snd_settle_mode === SETTLED ? 'receiveAndDelete' : 'peekLock';
    const { dispatchers, faults } = this.#services;
    const consumer = attachToQueue({ sender, queue, mode, dispatchers, faults });
    if (consumer !== undefined) this.#consumers.set(sender, consumer);
  }

  /** The client has attached a sender. */
  attachProducer(receiver: Receiver): void {
    const text = receiver.target?.address ?? '';
    setAttach(receiver, {
      snd_settle_mode: receiver.snd_settle_mode,
      rcv_settle_mode: receiver.rcv_settle_mode,
      max_message_size: this.#mostBytesTo(text),
    });
    receiver.set_source({ address: receiver.source?.address ?? '' });
    receiver.set_target({ address: text });
    const take = takerFor(text, {
      services: this.#services,
      holdOf: (queue, sessionId) => this.#holdOf(queue, sessionId),
      reply: (request, message) => this.#reply(request, message),
    });
    if ('condition' in take) {
      refuseAttach(receiver, take);
      return;
    }
    this.#producers.set(receiver, take);
    receiver.add_credit(PRODUCER_CREDIT);
  }

  /** The client has transferred a whole message. */
  onMessage(receiver: Receiver, bytes: Buffer, format: number, delivery: IncomingDelivery): void {
    if (delivery.isTooLarge) delivery.update(true, rejected(messageTooLarge(mostBytesOn(receiver))));
    else this.#producers.get(receiver)?.(bytes, format, delivery);
    const { credit } = receiver as Receiver & { credit: number };
    if (credit < PRODUCER_CREDIT / 2) receiver.add_credit(PRODUCER_CREDIT - credit);
  }

  /** The client wants more messages on a link, or wants it drained. */
  onCredit(sender: Sender): void {
    this.#consumers.get(sender)?.run();
  }

  /** The client says of deliveries what shall become of them, all the same. */
  onDisposition(deliveries: readonly SentDelivery[], state: WireValue | undefined, isSettled: boolean): void {
    const settlement = state === undefined ? undefined : settlementOf(state);
    if (settlement === undefined && !isSettled) return;
    for (const sent of deliveries) this.#consumers.get(sent.link)?.link?.onDisposition(sent, settlement);
  }

  /** Answers drains, after everything that is on its way was flushed. */
  onFlow(): void {
    process.nextTick(() => {
      for (const { link } of this.#consumers.values()) link?.drainIfAsked();
    });
  }

  /** A link has ended, by either side. What it has locked stays locked: locks outlive their link. */
  onLinkClosed(link: Sender | Receiver): void {
    this.#consumers.get(link as Sender)?.detach();
    this.#consumers.delete(link as Sender);
    this.#producers.delete(link as Receiver);
    for (const [name, sender] of this.#replyLinks) if (sender === link) this.#replyLinks.delete(name);
  }

  /** A session has ended, or the connection when no session is given. */
  closeAll(session?: unknown): void {
    const links = [...this.#consumers.keys(), ...this.#producers.keys(), ...this.#replyLinks.values()];
    for (const link of links) if (session === undefined || link.session === session) this.onLinkClosed(link);
  }

  #mostBytesTo(text: string): number {
    const address = parseAddress(text);
    const entity = address.kind === 'cbs' ? undefined : this.#services.namespace.find(address.path);
    return entity?.settings.maxMessageSizeInBytes ?? MOST_BYTES_OF_A_REQUEST;
  }

  #holdOf(queue: Queue, sessionId: string): SessionHold | undefined {
    for (const consumer of this.#consumers.values()) {
      if (consumer.queue === queue && consumer.hold?.sessionId === sessionId) return consumer.hold;
    }
    return undefined;
  }

  #reply(request: ManagementRequest, message: object): void {
    const sender = this.#replyLinks.get(request.replyTo ?? '');
    if (sender?.is_open() !== true) return;
    const delivery = sender.send(message as never) as unknown as { settled: boolean };
    delivery.settled = true;
  }
}
