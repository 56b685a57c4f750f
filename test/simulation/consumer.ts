import type { EventConsumer } from '../../functions/core/pipeline/event-consumer.ts';
import type { Body } from '../../functions/core/rules/delivery.ts';
import { perform } from './acts.ts';
import type { Instance } from './instance.ts';
import { CONSUMER } from './message.ts';

/** The event of every world. */
export interface Order {
  readonly orderId: string;
}

export const bodyOf = (text: string): Body => ({ kind: 'data', bytes: new TextEncoder().encode(text) });
export const orderBody = (orderId: string): Body => bodyOf(JSON.stringify({ orderId }));

/** The consumer as one process has it; its handler acts as the world says. */
export function consumerOf(instance: Instance): EventConsumer<Order> {
  const { build, world } = instance;
  return {
    name: CONSUMER,
    policyName: build.name,
    policy: build.policy,
    validate: (value) =>
      isOrder(value) ? { kind: 'valid', event: value } : { kind: 'invalid', problems: ['orderId: expected a string'] },
    ...(build.readsOwnId ? { eventId: ({ orderId }: Order) => orderId } : {}),
    async handle(_event, context) {
      const { effects, options } = world;
      const run = effects.starts(instance, context);
      const act = options.act(context.eventId, effects.callsOf(context.eventId));
      if (world.isTraced) {
        world.trace(
          `${instance.name} RUNS ${context.eventId}, generation ${context.generation}, attempt ${context.attempt}, try ${context.try}: ${act}`,
        );
      }
      try {
        await perform(act, instance, context, () => effects.happens(run));
        effects.ends(run, 'returned');
      } catch (error) {
        effects.ends(run, 'threw');
        throw error;
      }
    },
  };
}

const isOrder = (value: unknown): value is Order =>
  typeof value === 'object' && value !== null && 'orderId' in value && typeof value.orderId === 'string';
