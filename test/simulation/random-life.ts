import type { RetryPolicy } from '../../functions/core/rules/policy.ts';
import { ACTS, type Act } from './acts.ts';
import { Chance } from './chance.ts';
import { bodyOf, orderBody } from './consumer.ts';
import { firstMessage, type SimulatedContent, simulated } from './message.ts';
import type { Mistake } from './mistakes.ts';
import { type Replay, replay } from './operator.ts';
import { aPolicy } from './policies.ts';
import { Weather } from './weather.ts';
import { type Build, NOON_UTC, World } from './world.ts';

const MINUTE = 60_000;

/**
 * A person acts this long after looking at the dead letters, at the earliest. Whoever re-sends a copy sooner than ten
 * seconds after its due time, its marks stripped, cannot be told from a copy that was sent twice.
 */
const QUICKEST_IN_MS = 12_000;

const REPLAYS = ['by the tool', 'by the tool, which dies in it', 'by hand', 'by hand, its marks stripped'] as const;

/**
 * What a life is mostly about: some harm needs several things in a row that seldom meet by chance alone. `revivals`: an
 * event that dies early and is brought back into an outage of the store. `contention`: processes that stand still while
 * others take over.
 */
const THEMES = ['anything', 'anything', 'anything', 'revivals', 'contention'] as const;
type Theme = (typeof THEMES)[number];

const FIRST_ACTS: Partial<Record<Theme, Act>> = { revivals: 'fails for good', contention: 'is slow' };

/** A life of one or a few events with whatever the seed brings. */
export function randomLife(seed: number, options: { mistake?: Mistake | undefined; isTraced?: boolean } = {}): World {
  const chance = new Chance(seed);
  const horizonInMs = chance.pick([2, 5, 15]) * MINUTE;
  const policy = randomPolicy(chance);
  const readsOwnId = chance.hits(0.3);
  const tame = chance.next();
  const theme: Theme = chance.pick(THEMES);
  const weather = new Weather(chance, NOON_UTC, horizonInMs);
  const act = (): Act => (chance.hits(tame) ? chance.pick(['succeeds', 'fails for now']) : chance.pick<Act>(ACTS));
  const maxDeliveryCount = policy.crashLimit + chance.between(2, 6);
  const world = new World({
    seed: chance.between(0, 2 ** 31),
    build: { name: 'A', policy: { ...policy, maxDeliveryCount }, readsOwnId },
    queue: {
      lockDurationInMs: policy.lockDurationInMs,
      maxDeliveryCount,
      defaultTimeToLiveInMs: policy.timeToLiveInMs,
      duplicateDetectionWindowInMs: chance.hits(0.7) ? 10 * MINUTE : undefined,
    },
    trouble: weather,
    act: (_eventId, call) => (call === 1 ? (FIRST_ACTS[theme] ?? act()) : act()),
    slots: chance.pick([1, 2, 4]),
    storeSkewInMs: chance.between(-200, 200),
    skewInMs: chance.pick([0, 1_000, 4 * MINUTE]),
    arrivalInMs: chance.pick([0, 50, 3_000]),
    restartInMs: chance.between(500, 20_000),
    ...options,
  });

  const events = chance.hits(0.8) ? 1 : chance.between(2, 3);
  for (let n = 1; n <= events; n++) publish(world, chance, `order-${n}`, readsOwnId, horizonInMs);
  for (let n = chance.between(1, 3); n > 0; n--) world.startInstance();
  planOperator(world, chance, horizonInMs, theme, weather);
  planAccidents(world, chance, horizonInMs, theme);
  if (chance.hits(0.3)) planDeployment(world, chance, horizonInMs);
  return world;
}

const randomPolicy = (chance: Chance): RetryPolicy =>
  aPolicy({
    attempts: chance.between(1, 5),
    baseDelayInMs: chance.pick([1_000, 5_000, 30_000]),
    jitter: chance.pick(['none', 'full', 'equal', 'decorrelated']),
    windowInMs: chance.pick([1, 5, 30]) * MINUTE,
    tries: chance.pick([1, 1, 2]),
    tryDelaysInMs: [200],
    crashLimit: chance.between(2, 3),
    deferralLimit: chance.hits(0.8) ? 1_000 : chance.between(0, 3),
    unclassified: chance.pick(['permanent', 'transient']),
    lockDurationInMs: chance.pick([15_000, 30_000, 60_000]),
    timeToLiveInMs: 120 * MINUTE,
  });

/** The producer sends an event, and some send it again, under the same MessageId or where the event names itself another. */
function publish(world: World, chance: Chance, eventId: string, readsOwnId: boolean, horizonInMs: number): void {
  const body = chance.hits(0.03) ? bodyOf(chance.pick(['{"orderId":', '{"orderId":7}'])) : orderBody(eventId);
  const timeToLiveInMs = chance.hits(0.1) ? chance.between(20_000, 5 * MINUTE) : undefined;
  const isReadable = body.kind === 'data' && body.bytes.at(-1) === 0x7d && !readsOwnId;
  const message = (n: number): SimulatedContent => {
    const messageId = readsOwnId && isReadable && n > 0 ? `${eventId}-again-${n}` : eventId;
    return firstMessage(eventId, messageId, body, world.timeline.nowUtc, timeToLiveInMs);
  };
  world.messages.produced(eventId);
  world.plan(chance.between(0, 1_000), () => void world.send(message(0)));
  for (let n = 1; n <= 2; n++) {
    if (chance.hits(0.2))
      world.plan(chance.between(1_000, chance.pick([5_000, horizonInMs])), () => void world.send(message(n)));
  }
}

/** Someone looks at the dead letters now and then, and brings some of them back. */
function planOperator(world: World, chance: Chance, horizonInMs: number, theme: Theme, weather: Weather): void {
  const isRevival = theme === 'revivals';
  const visit = () => {
    for (const dead of world.deadLetters.peek(0, 100)) {
      if (chance.hits(0.3)) continue;
      const { sequenceNumber } = dead;
      const how: Replay = chance.pick(REPLAYS);
      const outageInMs = isRevival && chance.hits(0.6) ? chance.between(1, 100) * 1_000 : 0;
      world.plan(QUICKEST_IN_MS + chance.between(0, MINUTE), () => {
        if (world.isTraced) world.trace(`the operator goes about ${simulated(dead).messageId}`);
        replay(world, sequenceNumber, how);
        if (outageInMs > 0) weather.breakDown('store', world.timeline.nowUtc, outageInMs);
      });
    }
  };
  for (let visits = isRevival ? 2 : chance.pick([0, 1, 1, 2, 3]); visits > 0; visits--) {
    world.plan(chance.between(10_000, chance.pick([MINUTE, horizonInMs * 2])), visit);
  }
}

/** The broker loses locks, and processes stand still. */
function planAccidents(world: World, chance: Chance, horizonInMs: number, theme: Theme): void {
  const { queue } = world;
  const isContention = theme === 'contention';
  const soon = () => chance.between(0, chance.pick([3_000, 20_000, isContention ? 3_000 : horizonInMs]));
  const loseLock = () => {
    const locked = queue.peek(0, 100).find(({ state }) => state === 'locked');
    if (!locked?.lockToken) return;
    if (world.isTraced) world.trace(`the broker loses the lock of ${simulated(locked).messageId}`);
    world.messages.lostLock(locked);
    queue.settle(locked.lockToken, { kind: 'abandon' });
  };
  const freeze = () => {
    const [first, ...others] = world.instances;
    if (first)
      chance
        .pick([first, ...others])
        .freeze(isContention ? chance.between(15_000, 40_000) : chance.between(5_000, 2 * MINUTE));
  };
  if (isContention || chance.hits(0.4)) for (let n = chance.between(1, 4); n > 0; n--) world.plan(soon(), loseLock);
  if (isContention || chance.hits(0.25)) for (let n = chance.between(1, 3); n > 0; n--) world.plan(soon(), freeze);
}

/** Another build takes over, one instance after the other; often with a policy that permits less. */
function planDeployment(world: World, chance: Chance, horizonInMs: number): void {
  const { policy, readsOwnId } = world.build;
  const { attempts } = policy;
  const next: Build = {
    name: 'B',
    policy: {
      ...policy,
      attempts: chance.hits(0.6) ? chance.between(1, attempts) : attempts + 1,
      baseDelayInMs: chance.pick([1_000, 10_000]),
    },
    readsOwnId,
  };
  world.plan(chance.between(0, horizonInMs), () => {
    world.build = next;
    for (const instance of [...world.instances]) world.plan(chance.between(0, 10_000), () => instance.stop());
  });
}
