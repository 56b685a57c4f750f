import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeBatchOfOne, encodeCopy } from '../../../../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { deliveryFromAmqp } from '../../../../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import { deadLetterOf } from '../../../../functions/core/rules/dead-letter.ts';
import type { Delivery } from '../../../../functions/core/rules/delivery.ts';
import { type Envelope, isReserved, PROPERTY, readEnvelope } from '../../../../functions/core/rules/envelope.ts';
import { type Copy, deferralOf, redeliveryOf } from '../../../../functions/core/rules/redelivery.ts';
import { fitCopy, fitDeadLetter } from '../../../../functions/core/rules/room.ts';
import { sizeInBytes } from '../../../../functions/core/rules/text.ts';
import { CONSUMER } from '../../../fixtures/deliveries.ts';
import { aMessage, bodyIn, data, ENQUEUED_UTC, propertiesIn, sequence, value } from './a-message.ts';
import { hex, PROPERTIES, REFUSED_PROPERTIES, wrap } from './wire-values.ts';

const NOW_UTC = ENQUEUED_UTC + 10_000;
const TRACEPARENT = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
const LEAST_COPY_FIELDS = [
  PROPERTY.consumer,
  PROPERTY.eventId,
  PROPERTY.attempt,
  PROPERTY.notBefore,
  PROPERTY.deadline,
];

/** Every type, with every value that the other tests know, and texts that look like what a rule reads. */
const anyValue = fc.oneof(
  fc.constantFrom(...[...PROPERTIES, ...REFUSED_PROPERTIES].map(([, bytes]) => bytes)),
  fc
    .constantFrom('', '0', '-1', '1', '{}', '[]', '[{"generation":0}]', '{"id":"B","seq":"1","at":1}', 'not a date')
    .map((text) => wrap('string', text)),
  fc.constantFrom('0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9999999Z').map((text) => wrap('string', text)),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => wrap('string', text.toWellFormed())),
  fc.constantFrom(0, 1, 2, -1, 2_147_483_647).map((count) => wrap('int', count)),
);
const inAnyCase = (name: string) => fc.constantFrom(name, name.toUpperCase(), ` ${name}`);
const anyName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...Object.values(PROPERTY)) },
  fc.constantFrom(...Object.values(PROPERTY)).chain(inAnyCase),
  fc.constantFrom('DeadLetterReason', 'DeadLetterErrorDescription', 'Diagnostic-Id', 'traceparent', 'tracestate'),
  fc.constantFrom('', '__proto__', 'constructor', 'tenant', 'Tenant', 'größe', '😀', '\u0000', 'é', 'e\u0301'),
  fc.string({ unit: 'binary', maxLength: 20 }).map((name) => name.toWellFormed()),
);
const anyId = fc.oneof(
  fc.constant(undefined),
  fc.string({ unit: 'binary', maxLength: 128 }).map((id) => wrap('string', id.toWellFormed())),
  fc.constantFrom(wrap('uuid', Buffer.alloc(16, 7)), hex('80 ffffffffffffffff'), wrap('binary', Buffer.alloc(60, 1))),
);
const anyBody = fc.oneof(
  fc.constant([]),
  fc
    .array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 3 })
    .map((all) => all.map((one) => data(Buffer.from(one)))),
  anyValue.map((encoded) => [value(encoded)]),
  fc.constant([sequence(hex('45')), sequence(wrap('list', [1, ['x', null]]))]),
);
const anyTimeToLive = fc.option(fc.constantFrom(0, 1, 10_000, 4_294_967_294, 4_294_967_295), { nil: undefined });

const anyMessage = fc
  .record({
    id: anyId,
    timeToLive: anyTimeToLive,
    isOurs: fc.boolean(),
    properties: fc.uniqueArray(fc.tuple(anyName, anyValue), { selector: ([name]) => name, maxLength: 12 }),
    body: anyBody,
  })
  .map(({ id, timeToLive, isOurs, properties, body }) => {
    const mark = isOurs ? [[PROPERTY.consumer, wrap('string', CONSUMER)] as const] : [];
    const others = properties.filter(([name]) => !isOurs || name !== PROPERTY.consumer);
    const header = [undefined, undefined, timeToLive === undefined ? undefined : wrap('uint', timeToLive)];
    return aMessage({
      header,
      properties: [id],
      applicationProperties: [...mark, ...others].map(([name, encoded]) => [wrap('string', name), encoded] as const),
      body,
    });
  });

const read = (raw: Buffer): Delivery => deliveryFromAmqp({ lockToken: 'token', raw }, 'orders');

function lineageOf({ generation, attempt }: Envelope) {
  return { consumer: CONSUMER, policyName: 'order-placed', generation, attempt, deadlineUtc: NOW_UTC + 60_000 };
}

/** The copy as the next delivery brings it: what the broker adds stands in place of the due time. */
function sentAndReceived(raw: Buffer, copy: Copy): Buffer {
  const fit = fitCopy(read(raw), copy);
  if (fit.kind !== 'fits') throw new Error(fit.failure.message);
  const encoded = encodeCopy(raw, fit.copy);
  expect(encodeBatchOfOne(encoded, copy.messageId).length).toBeGreaterThan(0);
  const sent = Buffer.concat(encoded.pieces);
  expect(bodyIn(sent)).toEqual(bodyIn(raw));
  const own = (message: Buffer) => propertiesIn(message).filter(([name]) => !copy.set.has(name ?? ''));
  const travels = new Set(own(sent).map(([name]) => name));
  expect(own(sent)).toEqual(own(raw).filter(([name]) => travels.has(name)));
  for (const [name] of propertiesIn(sent)) {
    if (!copy.set.has(name ?? '')) expect(isReserved(name ?? '')).toBe(false);
  }
  expect(copy.messageId.length).toBeLessThanOrEqual(128);
  return sent;
}

test('of any message a copy can be cut, and stands for the same event one attempt on', () => {
  fc.assert(
    fc.property(anyMessage, (raw) => {
      const delivery = read(raw);
      const envelope = readEnvelope(delivery, CONSUMER);
      // No policy permits more attempts; such a message is dead-lettered.
      fc.pre(envelope.attempt <= 1_000);
      const plan = { dueUtc: NOW_UTC + 5_000, failure: { reason: 'R', code: 'C', message: 'm' } };
      const copy = redeliveryOf(delivery, envelope, lineageOf(envelope), plan, NOW_UTC, TRACEPARENT);
      const names = new Map(propertiesIn(sentAndReceived(raw, copy)));
      for (const name of LEAST_COPY_FIELDS) expect(names.get(name)).toBeDefined();
      expect(names.get(PROPERTY.attempt)).toBe(wrapInt(envelope.attempt));
    }),
    { numRuns: 400 },
  );
});

test('any message can be put off, and keeps its place', () => {
  fc.assert(
    fc.property(anyMessage, (raw) => {
      const delivery = read(raw);
      const envelope = readEnvelope(delivery, CONSUMER);
      const copy = deferralOf(delivery, envelope, lineageOf(envelope), NOW_UTC + 5_000, TRACEPARENT);
      const names = new Map(propertiesIn(sentAndReceived(raw, copy)));
      expect(names.get(PROPERTY.attempt)).toBe(wrapInt(envelope.attempt - 1));
      expect(names.get(PROPERTY.deferrals)).toBe(wrapInt(Math.min(envelope.deferrals + 1, 2_147_483_647)));
    }),
    { numRuns: 400 },
  );
});

test('any message can be dead-lettered within the limits', () => {
  fc.assert(
    fc.property(anyMessage, fc.string({ unit: 'binary', maxLength: 300 }), (raw, text) => {
      const delivery = read(raw);
      const envelope = readEnvelope(delivery, CONSUMER);
      const failure = { reason: text, code: text, message: text.repeat(40) };
      const place = { attempt: envelope.attempt, maxAttempts: 5, generation: envelope.generation };
      const { reason, description, properties } = fitDeadLetter(
        delivery,
        deadLetterOf(envelope, failure, place, NOW_UTC),
      );
      expect(reason).toMatch(/^\S/);
      expect(sizeInBytes(reason)).toBeLessThan(64);
      expect(sizeInBytes(description)).toBeLessThanOrEqual(4_096);
      for (const { type } of properties.values()) expect(['int', 'string']).toContain(type);
    }),
    { numRuns: 400 },
  );
});

const wrapInt = (count: number): string => {
  const bytes = Buffer.alloc(5, 0x71);
  bytes.writeInt32BE(count, 1);
  return bytes.toString('hex');
};
