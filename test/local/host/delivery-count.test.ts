import rhea from 'rhea';
import { describe, expect, test } from 'vitest';
import { withDeliveryCountRaised } from '../../../local/host/service-bus/delivery-count.ts';
import { netGuidBytes } from '../../../local/host/service-bus/model-binding-data.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const BODY = '00 53 75 a0 03 010203';

describe('the delivery count the app sees', () => {
  test.each([
    ['in a short list', `00 53 70 c0 06 05 40 40 40 40 43 ${BODY}`, `00 53 70 c0 07 05 40 40 40 40 52 01 ${BODY}`],
    [
      'in a long list',
      `00 53 70 d0 0000000a 00000005 40 40 40 40 52 09 ${BODY}`,
      `00 53 70 c0 07 05 40 40 40 40 52 0a ${BODY}`,
    ],
    [
      'beyond one byte',
      `00 53 70 c0 07 05 40 40 40 40 52 ff ${BODY}`,
      `00 53 70 c0 0a 05 40 40 40 40 70 00000100 ${BODY}`,
    ],
    [
      'with the fields before it',
      `00 53 70 c0 0b 05 41 50 04 70 0000ea60 42 43 ${BODY}`,
      `00 53 70 c0 0c 05 41 50 04 70 0000ea60 42 52 01 ${BODY}`,
    ],
    ['where the list is empty', `00 53 70 45 ${BODY}`, `00 53 70 c0 07 05 40 40 40 40 52 01 ${BODY}`],
    ['where the list is cut short', `00 53 70 c0 02 01 41 ${BODY}`, `00 53 70 c0 07 05 41 40 40 40 52 01 ${BODY}`],
    ['under a wide descriptor', `00 80 0000000000000070 45 ${BODY}`, `00 53 70 c0 07 05 40 40 40 40 52 01 ${BODY}`],
    [
      'under a symbolic descriptor',
      `00 a3 10 ${Buffer.from('amqp:header:list').toString('hex')} 45 ${BODY}`,
      `00 53 70 c0 07 05 40 40 40 40 52 01 ${BODY}`,
    ],
    ['where there is no header', BODY, `00 53 70 c0 07 05 40 40 40 40 52 01 ${BODY}`],
  ])('is one higher than on the wire %s [S5]', (_, wire, expected) => {
    expect(withDeliveryCountRaised(hex(wire)).toString('hex')).toBe(hex(expected).toString('hex'));
  });

  test('changes nothing else of what rhea writes', () => {
    const message = {
      durable: true,
      ttl: 60_000,
      delivery_count: 3,
      message_id: 'm',
      application_properties: { n: 1 },
      body: 'b',
    };

    const raised = withDeliveryCountRaised(rhea.message.encode(message as never) as unknown as Buffer);

    expect(rhea.message.decode(raised)).toEqual(
      rhea.message.decode(rhea.message.encode({ ...message, delivery_count: 4 } as never)),
    );
  });

  test('is refused for bytes that are no message', () => {
    expect(() => withDeliveryCountRaised(hex('ff'))).toThrow('Expected an AMQP section at byte 0, got 0xff.');
  });
});

test('a lock token is written as .NET writes a GUID', () => {
  expect(netGuidBytes('00112233-4455-6677-8899-aabbccddeeff').toString('hex')).toBe('33221100554477668899aabbccddeeff');
});
