import type { EntityKeys } from '../../functions/core/adapters/table-storage/keys.ts';
import { tableLedger } from '../../functions/core/adapters/table-storage/table-ledger.ts';
import type { Columns, TableStore } from '../../functions/core/adapters/table-storage/table-store.ts';
import type { Ports } from '../../functions/core/pipeline/event-consumer.ts';
import { LedgerError, SendError, type Sender, type Settlement } from '../../functions/core/pipeline/ports.ts';
import type { Delivery } from '../../functions/core/rules/delivery.ts';
import type { PropertyValue as Added } from '../../local/broker/model/content.ts';
import { call } from './call.ts';
import type { Instance } from './instance.ts';
import { copyContent } from './message.ts';

/** What the ledger uses of the store's adapter. */
export type LedgerStore = Pick<TableStore, 'get' | 'insert' | 'replace' | 'knownTime' | 'serverTime'>;

/** The ports of one delivery in a process, with the mistake that the world is asked to make. */
export function portsFor(instance: Instance, delivery: Delivery, eventId: string): Ports {
  const { world } = instance;
  const { mistake } = world.options;
  const store = storeFor(instance, delivery);
  const ports: Ports = {
    clock: instance.clock,
    // The rest of the adapter is for the sweep.
    ledger: tableLedger((mistake?.store?.(store, world) ?? store) as TableStore),
    sender: senderFor(instance, eventId),
    settlement: settlementFor(instance),
    telemetry: {
      processed: () => undefined,
      log: (level, message) => {
        if (world.isTraced && level !== 'information') world.trace(`${instance.name} says: ${message}`);
      },
    },
    processWide: instance.processWide,
  };
  return mistake?.ports?.(ports, delivery, world) ?? ports;
}

function storeFor(instance: Instance, { lockToken }: Delivery): LedgerStore {
  const { world } = instance;
  const operate = <T>(name: string, effect: () => T): Promise<T> =>
    call(instance, {
      target: 'store',
      name,
      lockToken,
      effect: () => {
        instance.hearServer();
        return effect();
      },
      failure: () => new LedgerError('unavailable', 'the store does not answer'),
    });
  const shown = ({ kind, generation, attempt }: Columns) => `${kind} (${generation}, ${attempt})`;
  const { table } = world;
  return {
    get: (keys: EntityKeys) => operate('reads the record', () => table.get(keys)),
    insert: (keys, columns) => operate(`inserts ${shown(columns)}`, () => table.insert(keys, columns)),
    replace: (keys, columns, etag) =>
      operate(`replaces by ${shown(columns)}`, () => {
        const written = table.replace(keys, columns, etag);
        if (!written) world.effects.overtaken(columns);
        return written;
      }),
    knownTime: () => instance.serverTime(),
    serverTime: async () => instance.serverTime(),
  };
}

const senderFor = (instance: Instance, eventId: string): Sender => ({
  send: (delivery, copy) =>
    call(instance, {
      target: 'send',
      name: `sends ${copy.messageId}`,
      lockToken: delivery.lockToken,
      effect: () => {
        const { world } = instance;
        world.messages.sent(copyContent(delivery, copy, eventId, world.timeline.nowUtc), copy.dueUtc);
      },
      failure: () => new SendError('unavailable', 'the broker does not answer'),
    }),
});

function settlementFor(instance: Instance): Settlement {
  const { world } = instance;
  const settle = (delivery: Delivery, name: string, effect: () => void): Promise<void> => {
    if (!instance.isDead) world.messages.settles(delivery, name);
    return call(instance, {
      target: 'settle',
      name: `${name} ${delivery.messageId}`,
      lockToken: delivery.lockToken,
      effect,
      failure: () => new Error('the settlement does not answer'),
    });
  };
  const ask = (kind: string) => {
    if (kind === 'lockLost') throw new Error('the lock is lost');
  };
  return {
    complete: (delivery) =>
      settle(delivery, 'completes', () => {
        world.messages.completing(delivery);
        ask(world.queue.settle(delivery.lockToken, { kind: 'complete' }).kind);
      }),
    abandon: (delivery) =>
      settle(delivery, 'abandons', () => ask(world.queue.settle(delivery.lockToken, { kind: 'abandon' }).kind)),
    deadLetter: (delivery, { reason, description, properties }) =>
      settle(delivery, `dead-letters (${reason})`, () => {
        const added = new Map<string, Added>([...properties].map(([name, { value }]) => [name, value as Added]));
        const settlement = { kind: 'deadLetter', reason, description, properties: added } as const;
        ask(world.queue.settle(delivery.lockToken, settlement).kind);
      }),
    renewLock: (delivery) =>
      call(instance, {
        target: 'settle',
        name: `renews the lock of ${delivery.messageId}`,
        lockToken: delivery.lockToken,
        effect: () => ask(world.queue.renew(delivery.lockToken).kind),
        failure: () => new Error('the renewal does not answer'),
      }),
  };
}
