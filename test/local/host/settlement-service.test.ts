import { type Client, credentials, status } from '@grpc/grpc-js';
import rhea from 'rhea';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SettlementClient } from '../../../local/host/settlement/contract.ts';
import { type HeldMessage, HeldMessages } from '../../../local/host/settlement/held-messages.ts';
import { type SettlementService, startSettlementService } from '../../../local/host/settlement/settlement-service.ts';

const TOKEN = '7f1b0d6e-8c5a-4a3b-9a7e-0123456789ab';

let held: HeldMessages;
let service: SettlementService;
let client: Client;
let calls: unknown[];
let failure: Error | undefined;

beforeEach(async () => {
  held = new HeldMessages();
  service = await startSettlementService(held);
  client = new SettlementClient(`127.0.0.1:${service.port}`, credentials.createInsecure());
  calls = [];
  failure = undefined;
  held.hold(TOKEN, recorder());
});

afterEach(() => {
  client.close();
  service.stop();
});

function recorder(): HeldMessage {
  const record =
    (name: string) =>
    (...parameters: unknown[]) => {
      calls.push([name, ...parameters]);
      return failure ? Promise.reject(failure) : Promise.resolve();
    };
  return {
    complete: record('complete'),
    abandon: record('abandon'),
    defer: record('defer'),
    deadLetter: record('deadLetter'),
    renewLock: record('renewLock'),
  };
}

function call(method: string, request: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const path = `/Settlement/${method}`;
    const { [method]: definition } = SettlementClient.service;
    if (!definition) throw new Error(`The contract has no ${method}.`);
    client.makeUnaryRequest(
      path,
      definition.requestSerialize,
      definition.responseDeserialize,
      request,
      (error, response) => (error ? reject(error) : resolve(response)),
    );
  });
}

function amqpMap(map: object): Buffer {
  const { Writer, wrap_map } = rhea.types as unknown as {
    Writer: new () => { write(value: unknown): void; toBuffer(): Buffer };
    wrap_map(map: object): unknown;
  };
  const writer = new Writer();
  writer.write(wrap_map(map));
  return writer.toBuffer();
}

describe('Settlement from Node: the gRPC service of the host', () => {
  test('completes and renews by the lock token alone [S1]', async () => {
    expect(await call('Complete', { locktoken: TOKEN })).toEqual({});
    await call('RenewMessageLock', { locktoken: TOKEN });

    expect(calls).toEqual([['complete'], ['renewLock']]);
  });

  test('abandons and defers with properties whose AMQP types it keeps [S2]', async () => {
    const propertiesToModify = amqpMap({ long: rhea.types.wrap_long(7), text: 'x' });

    await call('Abandon', { locktoken: TOKEN, propertiesToModify });
    await call('Defer', { locktoken: TOKEN, propertiesToModify });

    const properties = {
      long: expect.objectContaining({
        value: 7,
        type: expect.objectContaining({ name: expect.stringMatching(/^(Small)?Long$/i) }),
      }),
      text: expect.objectContaining({ value: 'x' }),
    };
    expect(calls).toEqual([
      ['abandon', properties],
      ['defer', properties],
    ]);
  });

  test('takes no properties where there are no bytes [S2]', async () => {
    await call('Abandon', { locktoken: TOKEN, propertiesToModify: Buffer.alloc(0) });

    expect(calls).toEqual([['abandon', undefined]]);
  });

  test.each([
    [
      'a reason and a description',
      { deadletterReason: { value: 'R' }, deadletterErrorDescription: { value: 'D' } },
      ['R', 'D', undefined],
    ],
    ['neither', {}, [undefined, undefined, undefined]],
    ['an empty reason', { deadletterReason: { value: '' } }, ['', undefined, undefined]],
  ])('dead-letters with %s [S1]', async (_, fields, expected) => {
    await call('Deadletter', { locktoken: TOKEN, ...fields });

    expect(calls).toEqual([['deadLetter', ...expected]]);
  });

  test('refuses a token it has forgotten [S7]', async () => {
    held.forget(TOKEN);

    await expect(call('Complete', { locktoken: TOKEN })).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: `LockToken ${TOKEN} not found.`,
    });
  });

  test('passes an error of the broker on as UNKNOWN with the text of the exception [S8]', async () => {
    failure = Object.assign(new Error('The lock is gone.'), { code: 'MessageLockLost' });

    await expect(call('Complete', { locktoken: TOKEN })).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: 'Azure.Messaging.ServiceBus.ServiceBusException: The lock is gone. (MessageLockLost)',
    });
  });

  test('refuses properties that are no map', async () => {
    await expect(call('Abandon', { locktoken: TOKEN, propertiesToModify: Buffer.from([0x41]) })).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: expect.stringContaining('propertiesToModify must be an AMQP map'),
    });
  });

  test.each(['GetSessionState', 'SetSessionState', 'ReleaseSession', 'RenewSessionLock'])(
    'knows no session (%s) [S1]',
    async (method) => {
      await expect(call(method, { sessionId: 's' })).rejects.toMatchObject({
        code: status.FAILED_PRECONDITION,
        details: 'SessionId s not found.',
      });
    },
  );
});
