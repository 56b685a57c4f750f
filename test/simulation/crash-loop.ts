import type { Act } from './acts.ts';
import { orderBody } from './consumer.ts';
import { firstMessage } from './message.ts';
import { aPolicy } from './policies.ts';
import { fairWeather } from './trouble.ts';
import { NOON_UTC, World, type WorldOptions } from './world.ts';

const CONCURRENT_CALLS = 16;

/** A consumer of one instance with 16 calls at a time and these events, the host starting it again after each death. */
export function aBusyInstance(
  eventIds: readonly string[],
  act: (eventId: string, call: number) => Act,
  options: Partial<WorldOptions> = {},
): World {
  const world = new World({
    seed: 1,
    build: { name: 'A', policy: aPolicy({ crashLimit: 3, maxDeliveryCount: 10 }), readsOwnId: false },
    queue: { lockDurationInMs: 30_000, maxDeliveryCount: 10, duplicateDetectionWindowInMs: 600_000 },
    trouble: fairWeather,
    act,
    slots: CONCURRENT_CALLS,
    ...options,
  });
  for (const eventId of eventIds) {
    world.messages.produced(eventId);
    world.send(firstMessage(eventId, eventId, orderBody(eventId), NOON_UTC, undefined));
  }
  world.startInstance();
  return world;
}

/** Reasons of all dead letters, by event. */
export const deadReasons = (world: World): Record<string, unknown> =>
  Object.fromEntries(
    world.deadLetters
      .peek(0, 100)
      .map((message) => [message.content.messageId, message.properties?.get('DeadLetterReason')]),
  );
