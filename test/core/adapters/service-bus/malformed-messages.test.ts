import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeCopy } from '../../../../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { deliveryFromAmqp } from '../../../../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import { aCopy, aMessage, sequence, value } from './a-message.ts';
import { PROPERTIES, wrap } from './wire-values.ts';

const MESSAGES = [
  aMessage({
    header: [wrap('boolean', true), wrap('ubyte', 7), wrap('uint', 60_000)],
    annotations: { own: wrap('list', [1, { a: 'b' }]) },
    properties: [wrap('uuid', Buffer.alloc(16, 1)), undefined, wrap('string', 'to')],
    applicationProperties: PROPERTIES.map(([name, bytes]) => [wrap('string', name), bytes] as const),
  }),
  aMessage({ body: [value(wrap('map', { a: [1, 'x', { b: null }], c: 'd'.repeat(300) }))] }),
  aMessage({ body: [value(wrap('array', ['x', 'y'], 0xb1))] }),
  aMessage({ body: [sequence(wrap('list', [1, ['x']])), sequence(wrap('list', [2]))] }),
];

/** Reads the message and cuts a copy from it; what is thrown must be the one clear kind. */
function attempt(raw: Buffer): 'read' | 'refused' {
  try {
    deliveryFromAmqp({ lockToken: 'token', raw }, 'orders');
    encodeCopy(raw, aCopy());
    return 'read';
  } catch (error) {
    expect(error).toSatisfy((thrown) => thrown instanceof TypeError || thrown instanceof RangeError);
    // Named by us, not by the runtime on its way into something undefined.
    expect((error as Error).message).toMatch(/AMQP|x-opt-sequence-number/);
    return 'refused';
  }
}

test('reads the messages that the others are cut from', () => {
  expect(MESSAGES.map(attempt)).toEqual(['read', 'read', 'read', 'read']);
});

test('refuses a message cut off anywhere inside a section, and none where one ends', () => {
  for (const message of MESSAGES) {
    const ends = Array.from({ length: message.length }, (_, length) => attempt(message.subarray(0, length)));
    // The annotations come first or second; from their end on, a cut between sections leaves a whole message.
    expect(ends.filter((end) => end === 'read').length).toBeLessThan(5);
    expect(ends.at(-1)).toBe('refused');
  }
});

test('ends with a delivery or one clear error, whatever bytes of a message are changed', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(...MESSAGES), changes, (message, bytes) => {
      const changed = Buffer.from(message);
      for (const [at, byte] of bytes) changed[at % changed.length] = byte;
      attempt(changed);
    }),
    { numRuns: 2_000 },
  );
});

test('ends with a delivery or one clear error for any bytes behind the start of a section', () => {
  const sections = fc.array(fc.tuple(fc.integer({ min: 0x70, max: 0x78 }), fc.uint8Array({ maxLength: 40 })), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(sections, (parts) => {
      const bytes = parts.flatMap(([code, rest]) => [0x00, 0x53, code, ...rest]);
      attempt(Buffer.concat([aMessage({ body: [] }), Buffer.from(bytes)]));
    }),
    { numRuns: 2_000 },
  );
});

test('ends with one clear error for random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(attempt(Buffer.from(bytes))).toBe('refused');
    }),
    { numRuns: 2_000 },
  );
});
