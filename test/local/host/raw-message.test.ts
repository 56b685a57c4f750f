import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import rhea from 'rhea';
import { expect, test } from 'vitest';
import { encodedMessage, keepEncodedMessages } from '../../../local/host/service-bus/raw-message.ts';
import { traceContext } from '../../../local/host/trace-context.ts';

const received = (messageAnnotations: object) =>
  ({ _rawAmqpMessage: { messageAnnotations } }) as unknown as ServiceBusReceivedMessage;

test('the bytes of a message are the very ones it was decoded from', () => {
  keepEncodedMessages();
  keepEncodedMessages();
  const bytes = rhea.message.encode({
    body: 'b',
    message_annotations: { 'x-opt-sequence-number': 1 },
  }) as unknown as Buffer;

  const decoded = rhea.message.decode(bytes);

  expect(encodedMessage(received(decoded['message_annotations']))).toBe(bytes);
});

test('a message whose bytes were not kept is refused', () => {
  expect(() => encodedMessage(received({}))).toThrow('The bytes of the message were not kept.');
});

test('an invocation gets a new span in the trace of its cause, or a trace of its own', () => {
  const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  const caused = traceContext({ traceParent, traceState: 'a=b' });
  const uncaused = traceContext({ traceParent: '|old.style', traceState: 'a=b' });

  expect(caused).toEqual({
    traceParent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/),
    traceState: 'a=b',
  });
  expect(caused.traceParent).not.toBe(traceParent);
  expect(uncaused).toEqual({ traceParent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), traceState: '' });
});
