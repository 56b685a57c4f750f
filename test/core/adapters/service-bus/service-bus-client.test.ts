import { expect, onTestFinished, test } from 'vitest';
import { serviceBusClient } from '../../../../functions/core/adapters/service-bus/service-bus-client.ts';

/** The namespace of the client that these settings make, and the problems that they have. */
function clientFrom(environment: Record<string, string>) {
  const problems: string[] = [];
  const client = serviceBusClient('Connection', environment, problems);
  onTestFinished(() => client?.close());
  return { namespace: client?.fullyQualifiedNamespace, problems };
}

const CONNECTION_STRING =
  'Endpoint=sb://localhost:5672;SharedAccessKeyName=K;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;';

test.each([
  ['a connection string', { Connection: CONNECTION_STRING }, 'localhost'],
  [
    'a namespace for an identity',
    { Connection__fullyQualifiedNamespace: 'n.servicebus.windows.net' },
    'n.servicebus.windows.net',
  ],
  [
    'a namespace for a user-assigned identity',
    { Connection__fullyQualifiedNamespace: 'n.servicebus.windows.net', Connection__clientId: 'c' },
    'n.servicebus.windows.net',
  ],
])('connects by %s', (_name, environment, namespace) => {
  expect(clientFrom(environment)).toEqual({ namespace: expect.stringMatching(`^${namespace}`), problems: [] });
});

test('says what it expected where there is neither', () => {
  expect(clientFrom({ Connection: '' })).toEqual({
    namespace: undefined,
    problems: [
      'Connection: expected a connection string, or Connection__fullyQualifiedNamespace for an identity; got neither',
    ],
  });
});

test('says in one line what is wrong with a connection string, and does not repeat it', () => {
  const { namespace, problems } = clientFrom({ Connection: 'SharedAccessKey=SAS_KEY_VALUE' });

  expect(namespace).toBeUndefined();
  expect(problems).toEqual([expect.stringMatching(/^Connection: expected a Service Bus connection; [^\n]+$/)]);
  expect(problems[0]).not.toContain('SAS_KEY_VALUE');
});
