import type { Ports } from '../../functions/core/pipeline/event-consumer.ts';
import type { Delivery } from '../../functions/core/rules/delivery.ts';
import { PROPERTY } from '../../functions/core/rules/envelope.ts';
import type { LedgerStore } from './ports.ts';
import type { World } from './world.ts';

/** A mistake that a consumer could make, made by its ports: the code under test has no switch for it. */
export interface Mistake {
  store?(store: LedgerStore, world: World): LedgerStore;
  ports?(ports: Ports, delivery: Delivery, world: World): Ports;
}

/** Completes the original, then sends the copy. */
const completeBeforeSchedule: Mistake = {
  ports(ports) {
    let isCompleted = false;
    const complete = async (delivery: Delivery) => {
      if (isCompleted) return;
      isCompleted = true;
      await ports.settlement.complete(delivery);
    };
    return {
      ...ports,
      settlement: { ...ports.settlement, complete },
      sender: {
        async send(delivery, copy) {
          await complete(delivery).catch(() => undefined);
          return ports.sender.send(delivery, copy);
        },
      },
    };
  },
};

/** Gives each copy an id of its own. */
const randomCopyId: Mistake = {
  ports: (ports, _delivery, { chance }) => ({
    ...ports,
    sender: { send: (delivery, copy) => ports.sender.send(delivery, { ...copy, messageId: `copy-${chance.next()}` }) },
  }),
};

/** Overwrites whatever is there. */
const updateWithoutEtag: Mistake = {
  store: (store) => ({
    ...store,
    async replace(keys, columns, etag) {
      const found = await store.get(keys);
      return store.replace(keys, columns, found?.etag ?? etag);
    },
  }),
};

/** Records the event as completed before its handler runs. */
const completedBeforeEffect: Mistake = {
  ports: (ports) => ({
    ...ports,
    ledger: {
      async claim(...claim) {
        const answer = await ports.ledger.claim(...claim);
        if (answer.kind === 'run') await ports.ledger.record(answer.hold, { kind: 'completed' });
        return answer;
      },
      record: async (hold, entry) =>
        entry.kind === 'completed' ? { kind: 'recorded', hold } : ports.ledger.record(hold, entry),
    },
  }),
};

/** Gives the message back at once where the store does not answer. */
const abandonOnStoreFailure: Mistake = {
  ports(ports, delivery) {
    let isAbandoned = false;
    return {
      ...ports,
      ledger: {
        ...ports.ledger,
        claim: (...claim) =>
          ports.ledger.claim(...claim).catch(async () => {
            isAbandoned = true;
            await ports.settlement.abandon(delivery);
            return { kind: 'stale' };
          }),
      },
      settlement: {
        ...ports.settlement,
        complete: async (settled) => (isAbandoned ? undefined : ports.settlement.complete(settled)),
      },
    };
  },
};

/** Records the dead letter as done before it is settled. */
const onePhaseDeadLettering: Mistake = {
  ports: (ports) => ({
    ...ports,
    ledger: {
      ...ports.ledger,
      async record(hold, entry) {
        const recorded = await ports.ledger.record(hold, entry);
        if (entry.kind !== 'deadLettering' || recorded.kind !== 'recorded') return recorded;
        return ports.ledger.record(recorded.hold, { kind: 'deadLettered' });
      },
    },
  }),
};

/** Names the copies of a replay as those of the life before were named. */
const replayCopiesWithoutGeneration: Mistake = {
  ports: (ports) => ({
    ...ports,
    sender: {
      send(delivery, copy) {
        const messageId = copy.messageId.replace(/~(?:p\d+)?(r\d+(?:d\d+)?)~\w+$/, '~$1');
        return ports.sender.send(delivery, { ...copy, messageId });
      },
    },
  }),
};

/** Deferrals do not say for which message they stand. */
const deferralsForgetOrigin: Mistake = {
  ports: (ports) => ({
    ...ports,
    sender: {
      send(delivery, copy) {
        const set = new Map(copy.set);
        set.delete(PROPERTY.origin);
        return ports.sender.send(delivery, { ...copy, set });
      },
    },
  }),
};

/** The known mistakes, each of which the simulation must find. */
export const MISTAKES = {
  'complete before schedule': completeBeforeSchedule,
  'random copy id': randomCopyId,
  'update without ETag': updateWithoutEtag,
  'completed before the effect': completedBeforeEffect,
  'abandon on store failure': abandonOnStoreFailure,
  'one-phase dead-lettering': onePhaseDeadLettering,
  'replay copies without the generation': replayCopiesWithoutGeneration,
  'deferrals that forget their origin': deferralsForgetOrigin,
} as const satisfies Record<string, Mistake>;
