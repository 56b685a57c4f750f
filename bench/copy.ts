import rhea from 'rhea';
import { encodeBatchOfOne, encodeCopy } from '../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { deliveryFromAmqp } from '../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import { decide } from '../functions/core/rules/decide.ts';
import { lifeOf, readEnvelope } from '../functions/core/rules/envelope.ts';
import { HttpStatusError } from '../functions/core/rules/errors.ts';
import { classify } from '../functions/core/rules/failure.ts';
import { DEFAULT_POLICY } from '../functions/core/rules/policy.ts';
import { type Copy, redeliveryOf } from '../functions/core/rules/redelivery.ts';
import { fitCopy } from '../functions/core/rules/room.ts';
import { inTurn, median } from './rounds.ts';

/** What a redelivery costs from the received bytes to the bytes sent, beside decoding and encoding alone. */
export interface CopyCost {
  readonly bodyInBytes: number;
  readonly oursInUs: number;
  readonly sdkInUs: number;
  readonly ratio: number;
}

const CONSUMER = 'billing-order-placed/order-placed';
const LOCK_TOKEN = '00000000-0000-4000-8000-000000000001';

// rhea's declarations leave these out.
const message = rhea.message as unknown as {
  decode(bytes: Buffer): Record<string, unknown>;
  encode(message: object): Buffer;
  data_section(body: Buffer): object;
};

/** rhea would write a small number as another type. */
const longOf = (value: number): object =>
  (rhea.types as unknown as { wrap_long(value: number): object }).wrap_long(value);

function received(bodyInBytes: number): Buffer {
  const body = Buffer.from(
    JSON.stringify({ orderId: 'A-1', amount: 10, note: 'x'.repeat(Math.max(0, bodyInBytes - 42)) }),
  );
  return message.encode({
    message_id: 'A',
    content_type: 'application/json',
    ttl: 3_600_000,
    message_annotations: {
      'x-opt-sequence-number': longOf(7),
      'x-opt-enqueued-time': new Date(),
      'x-opt-locked-until': new Date(Date.now() + 60_000),
    },
    application_properties: { tenant: 'eu', priority: 3, source: 'shop' },
    body: message.data_section(body),
  });
}

const DOWN = new HttpStatusError(503, 'the payment provider answered 503');

/** Decode, classify, decide, cut the copy. */
function copyOf(raw: Buffer): Copy {
  const delivery = deliveryFromAmqp({ lockToken: LOCK_TOKEN, raw }, 'billing-order-placed');
  const envelope = readEnvelope(delivery, CONSUMER);
  const { deadlineUtc } = lifeOf(envelope, 0, DEFAULT_POLICY.windowInMs);
  const standing = { eventId: envelope.eventId, attempt: 1, deadlineUtc, expiresUtc: delivery.expiresUtc };
  const nowUtc = Date.now();
  const decision = decide(standing, classify(DOWN), DEFAULT_POLICY, nowUtc);
  if (decision.kind !== 'redeliver') throw new Error(`expected a redelivery, got ${decision.failure.reason}`);
  const lineage = { consumer: CONSUMER, policyName: 'order-placed', generation: 0, attempt: 1, deadlineUtc };
  const fit = fitCopy(delivery, redeliveryOf(delivery, envelope, lineage, decision, nowUtc));
  if (fit.kind !== 'fits') throw new Error(fit.failure.message);
  return fit.copy;
}

function ours(raw: Buffer): Buffer {
  const copy = copyOf(raw);
  return encodeBatchOfOne(encodeCopy(raw, copy), copy.messageId);
}

/**
 * What the SDK does to receive a message and send it again with the same properties: decode, parse the body, serialise
 * it, encode the message, encode the batch around it, which repeats the message's properties.
 */
const sdkWith = (added: Readonly<Record<string, unknown>>) => (raw: Buffer) => {
  const decoded = message.decode(raw);
  const { content } = decoded['body'] as { content: Buffer };
  const body = message.data_section(Buffer.from(JSON.stringify(JSON.parse(content.toString('utf8')))));
  const properties = { ...(decoded['application_properties'] as object), ...added };
  const encoded = message.encode({ ...decoded, application_properties: properties, body });
  return message.encode({ ...decoded, application_properties: properties, body: message.data_section(encoded) });
};

/** Processor time of `work`, in milliseconds: another process that wants the processor too makes nothing dearer. */
async function processorTimeOf(work: () => void): Promise<number> {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Measures bodies of 200 B, 4 KB and 200 KB, in processor time: there is nothing to wait for. */
export async function copyCosts(): Promise<CopyCost[]> {
  const costs: CopyCost[] = [];
  for (const [bodyInBytes, times] of [
    [200, 4_000],
    [4_096, 4_000],
    [204_800, 200],
  ] as const) {
    const raw = received(bodyInBytes);
    const sdk = sdkWith(Object.fromEntries([...copyOf(raw).set].map(([name, { value }]) => [name, value])));
    const round = (work: (raw: Buffer) => Buffer) => () =>
      processorTimeOf(() => {
        for (let n = 0; n < times; n++) work(raw);
      });
    for (let n = 0; n < times; n++) {
      ours(raw);
      sdk(raw);
    }
    const pairs = await inTurn({ rounds: 9, limitInMs: 20_000 }, round(ours), round(sdk));
    costs.push({
      bodyInBytes,
      oursInUs: (median(pairs.map(({ first }) => first)) * 1_000) / times,
      sdkInUs: (median(pairs.map(({ second }) => second)) * 1_000) / times,
      ratio: median(pairs.map(({ first, second }) => first / second)),
    });
  }
  return costs;
}
