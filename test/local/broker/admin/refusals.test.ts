import { expect, test } from 'vitest';
import { anAdmin } from './an-admin.ts';

type Refusal = { readonly code?: string; readonly statusCode?: number; readonly message: string };

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no refusal',
    ({ code, statusCode, message }: Refusal) => [code, statusCode, message],
  );
}

test('refuses a name that is taken, whatever the case and the kind', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('Events');
  await admin.createSubscription('events', 'all');
  const taken = (name: string) => [
    'MessageEntityAlreadyExistsError',
    409,
    `SubCode=40900. Conflict. The messaging entity '${name}' already exists.`,
  ];
  expect(await refusalOf(admin.createQueue('ORDERS'))).toEqual(taken('ORDERS'));
  expect(await refusalOf(admin.createQueue('events'))).toEqual(taken('events'));
  expect(await refusalOf(admin.createSubscription('events', 'ALL'))).toEqual(taken('ALL'));
  expect(await refusalOf(admin.createRule('events', 'all', '$Default', { sqlExpression: '1=1' }))).toEqual(
    taken('$Default'),
  );
});

test('names what is not there, in every operation', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('events');
  const queue = await admin.getQueue('orders');
  const missing = (name: string) => [
    'MessageEntityNotFoundError',
    404,
    `The messaging entity '${name}' could not be found.`,
  ];
  expect(await refusalOf(admin.getQueue('gone'))).toEqual(missing('gone'));
  expect(await refusalOf(admin.getQueue('orders/$DeadLetterQueue'))).toEqual(missing('orders/$DeadLetterQueue'));
  expect(await refusalOf(admin.updateQueue({ ...queue, name: 'gone' }))).toEqual(missing('gone'));
  expect(await refusalOf(admin.deleteQueue('gone'))).toEqual(missing('gone'));
  expect(await refusalOf(admin.createSubscription('gone', 's'))).toEqual(missing('gone'));
  expect(await refusalOf(admin.getSubscription('events', 'gone'))).toEqual(missing('gone'));
  expect(await refusalOf(admin.deleteRule('events', 'gone', 'r'))).toEqual(missing('gone'));
  expect(await refusalOf(admin.createQueue('q', { forwardTo: 'gone' }))).toEqual(missing('gone'));
});

test.each([
  [{ lockDuration: 'PT6M' }, 'LockDuration must be a duration from PT5S to PT5M, got PT6M.'],
  [{ lockDuration: 'a minute' }, 'LockDuration must be a duration from PT5S to PT5M, got a minute.'],
  [{ maxDeliveryCount: 0 }, 'MaxDeliveryCount must be an integer from 1 to 10, got 0.'],
  [{ defaultMessageTimeToLive: 'P14D' }, 'DefaultMessageTimeToLive must be a duration from PT5M to PT1H, got P14D.'],
  [
    { maxMessageSizeInKilobytes: 1024 },
    'MaxMessageSizeInKilobytes must be 256, which only the premium tier exceeds, got 1024.',
  ],
  [{ maxSizeInMegabytes: 1.5 }, 'MaxSizeInMegabytes must be an integer from 1 to 81920, got 1.5.'],
  [
    { status: 'Asleep' as 'Active' },
    'Status must be one of Active, Disabled, SendDisabled, ReceiveDisabled, got Asleep.',
  ],
])('refuses %j under the limits of the emulator, with what was expected', async (options, detail) => {
  const { admin } = await anAdmin({ tier: 'emulator' });
  expect(await refusalOf(admin.createQueue('q', options))).toEqual(['ServiceError', 400, `SubCode=40000. ${detail}`]);
  expect(await admin.queueExists('q')).toBe(false);
});

test('refuses to change what is settled when an entity is made', async () => {
  const { admin, broker } = await anAdmin();
  const queue = await admin.getQueue('orders');
  const before = broker.namespace.queue('orders').settings;
  const refusal = [
    'ServiceError',
    400,
    'SubCode=40000. RequiresSession and RequiresDuplicateDetection cannot be changed once the entity exists.',
  ];
  expect(await refusalOf(admin.updateQueue({ ...queue, requiresSession: true }))).toEqual(refusal);
  expect(await refusalOf(admin.updateQueue({ ...queue, requiresDuplicateDetection: true }))).toEqual(refusal);
  expect(broker.namespace.queue('orders').settings).toEqual(before);
});

test('refuses a queue that forwards to itself', async () => {
  const { admin } = await anAdmin();
  const queue = await admin.getQueue('orders');
  expect(await refusalOf(admin.updateQueue({ ...queue, forwardTo: 'orders' }))).toEqual([
    'ServiceError',
    400,
    "SubCode=40000. 'orders' cannot forward to itself.",
  ]);
});

test('refuses the fifty-first entity under the limits of the emulator', async () => {
  const { admin } = await anAdmin({ tier: 'emulator' });
  for (let count = 2; count <= 50; count++) await admin.createQueue(`q${count}`);
  expect(await refusalOf(admin.createTopic('one-too-many'))).toEqual([
    'QuotaExceededError',
    403,
    'SubCode=40300. The namespace has 50 queues and topics, which is the most.',
  ]);
});

test('refuses a rule that it does not understand, and says what', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('events');
  await admin.createSubscription('events', 'all');
  const rule = (filter: object) => refusalOf(admin.createRule('events', 'all', 'r', filter));
  expect(await rule({ sqlExpression: 'amount >' })).toEqual([
    'ServiceError',
    400,
    expect.stringMatching(/^SubCode=40000\. Rule 'r': /),
  ]);
  expect(await rule({ sqlExpression: 'a = @b', sqlParameters: { '@c': 1 } })).toEqual([
    'ServiceError',
    400,
    "SubCode=40000. Rule 'r': The parameter '@b' has no value.",
  ]);
  expect(await rule({ applicationProperties: { at: new Date(0) } })).toEqual([
    'ServiceError',
    400,
    'SubCode=40000. A value of type dateTime is not supported in Properties.',
  ]);
});

test.each([
  ['PUT', 'q', 'no XML', 400],
  ['PUT', 'q', '<entry><content><Unknown/></content></entry>', 400],
  ['PUT', 'q', '<entry><content><RuleDescription/></content></entry>', 400],
  ['PUT', 'events/Subscriptions/s', '<entry><content><QueueDescription/></content></entry>', 400],
  ['PUT', 'a%2Fb%20c', '<entry><content><QueueDescription/></content></entry>', 400],
  ['PUT', 'q', 'x'.repeat(1024 * 1024 + 1), 413],
  ['POST', 'orders', '', 405],
  ['DELETE', '$Resources/queues', undefined, 405],
  ['GET', '$Resources/queues?$skip=x', undefined, 400],
  ['GET', '%', undefined, 400],
] as const)('answers %s %s with the status and the reason as XML, and goes on', async (method, path, body, status) => {
  const { admin, port } = await anAdmin();
  const response = await fetch(`http://localhost:${port}/${path}`, { method, ...(body === undefined ? {} : { body }) });
  expect(response.status).toBe(status);
  expect(await response.text()).toMatch(
    new RegExp(`^<\\?xml.*<Error><Code>${status}</Code><Detail>.+</Detail></Error>$`, 's'),
  );
  expect(await admin.queueExists('orders')).toBe(true);
});
