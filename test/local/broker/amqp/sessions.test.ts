import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import { expect, test, vi } from 'vitest';
import { aBroker, aReceiver, codeOf, QUEUE, type TestBroker } from '../a-broker.ts';

const OPTIONS = { maxAutoLockRenewalDurationInMs: 0 };

async function aSessionBroker(): Promise<TestBroker> {
  return aBroker({ requiresSession: true, lockDurationInMs: 30_000 });
}

async function bodies(receiver: ServiceBusSessionReceiver, count: number): Promise<unknown[]> {
  const messages = await receiver.receiveMessages(count, { maxWaitTimeInMs: 5000 });
  return messages.map(({ body }) => body);
}

test('serves a named session in order, and no other', async () => {
  const { client } = await aSessionBroker();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages([
    { body: 'a', sessionId: 's1' },
    { body: 'b', sessionId: 's2' },
    { body: 'c', sessionId: 's1' },
  ]);
  const receiver = await client.acceptSession(QUEUE, 's1', OPTIONS);
  expect(receiver.sessionId).toBe('s1');
  expect(Number(receiver.sessionLockedUntilUtc) - Date.now()).toBeGreaterThan(20_000);
  expect(await bodies(receiver, 2)).toEqual(['a', 'c']);
});

test('refuses a session that another receiver holds, until that one closes', async () => {
  const { client } = await aSessionBroker();
  const first = await client.acceptSession(QUEUE, 's1', OPTIONS);
  expect(await codeOf(client.acceptSession(QUEUE, 's1', OPTIONS))).toBe('SessionCannotBeLocked');
  await first.close();
  expect((await client.acceptSession(QUEUE, 's1', OPTIONS)).sessionId).toBe('s1');
});

test('gives out the next session, also to a client that came before there was one', async () => {
  const { client } = await aSessionBroker();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 'a', sessionId: 's1' });
  expect((await client.acceptNextSession(QUEUE, OPTIONS)).sessionId).toBe('s1');
  const waiting = client.acceptNextSession(QUEUE, OPTIONS);
  await sender.sendMessages({ body: 'b', sessionId: 's2' });
  const receiver = await waiting;
  expect(receiver.sessionId).toBe('s2');
  expect(await bodies(receiver, 1)).toEqual(['b']);
});

test('tells a client in time that there is no session', async () => {
  const { broker } = await aSessionBroker();
  const { ServiceBusClient } = await import('@azure/service-bus');
  const impatient = new ServiceBusClient(broker.connectionString, {
    retryOptions: { maxRetries: 0, timeoutInMs: 600 },
  });
  expect(await codeOf(impatient.acceptNextSession(QUEUE, OPTIONS))).toMatch(/ServiceTimeout|SessionCannotBeLocked/);
  await impatient.close();
});

test('keeps a state with the session', async () => {
  const { client } = await aSessionBroker();
  const first = await client.acceptSession(QUEUE, 's1', OPTIONS);
  expect(await first.getSessionState()).toBeNull();
  await first.setSessionState({ step: 2 });
  await first.close();
  const second = await client.acceptSession(QUEUE, 's1', OPTIONS);
  expect(await second.getSessionState()).toEqual({ step: 2 });
});

test('renews the lock on a session', async () => {
  const { broker, client, pass } = await aSessionBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'a', sessionId: 's1' });
  const receiver = await client.acceptSession(QUEUE, 's1', OPTIONS);
  const [message] = await receiver.receiveMessages(1);
  const firstEndUtc = Number(receiver.sessionLockedUntilUtc);
  pass(20_000);
  expect(Number(await receiver.renewSessionLock())).toBeGreaterThanOrEqual(firstEndUtc + 20_000);
  pass(20_000);
  await receiver.completeMessage(message as never);
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(0);
});

test('tells a receiver whose lock has ended that its session is lost, and gives the session to the next', async () => {
  const { client, pass } = await aSessionBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'a', sessionId: 's1' });
  const receiver = await client.acceptSession(QUEUE, 's1', OPTIONS);
  const [message] = await receiver.receiveMessages(1);
  pass(30_000);
  // A settlement sent in the same breath as the broker's detach would leave the client waiting for its own timeout.
  await vi.waitFor(() => expect(receiver.isClosed).toBe(true));
  expect(await codeOf(receiver.completeMessage(message as never))).toBe('SessionLockLost');
  const [again] = await (await client.acceptNextSession(QUEUE, OPTIONS)).receiveMessages(1);
  expect(again).toMatchObject({ body: 'a', deliveryCount: 1 });
});

test('peeks, defers and completes within a session', async () => {
  const { broker, client } = await aSessionBroker();
  await client.createSender(QUEUE).sendMessages([
    { body: 'a', sessionId: 's1' },
    { body: 'b', sessionId: 's2' },
  ]);
  const receiver = await client.acceptSession(QUEUE, 's1', OPTIONS);
  expect((await receiver.peekMessages(10)).map(({ body }) => body)).toEqual(['a']);
  const [message] = await receiver.receiveMessages(1);
  await receiver.deferMessage(message as never);
  const [deferred] = await receiver.receiveDeferredMessages(message?.sequenceNumber as never);
  await receiver.completeMessage(deferred as never);
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, deferred: 0 });
});

test('refuses a message without a session, alone, in a batch and scheduled', async () => {
  const { broker, client } = await aSessionBroker();
  const sender = client.createSender(QUEUE);
  await expect(sender.sendMessages({ body: 'x' })).rejects.toThrow(/SessionId was not set/);
  await expect(sender.sendMessages([{ body: 'x', sessionId: 's1' }, { body: 'y' }])).rejects.toThrow(
    /SessionId was not set/,
  );
  await expect(sender.scheduleMessages({ body: 'x' }, new Date(Date.now() + 60_000))).rejects.toThrow(
    /SessionId was not set/,
  );
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 0, scheduled: 0 });
});

test('refuses a receiver that does not fit the entity', async () => {
  const { client } = await aSessionBroker();
  await expect(aReceiver(client).receiveMessages(1)).rejects.toThrow(/requires sessions/);
  const plain = await aBroker();
  expect(await codeOf(plain.client.acceptSession(QUEUE, 's1', OPTIONS))).toBe('SessionCannotBeLocked');
});
