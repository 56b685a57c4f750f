import type { Act } from './acts.ts';
import { bodyOf, orderBody } from './consumer.ts';
import { firstMessage } from './message.ts';
import type { Mistake } from './mistakes.ts';
import { aPolicy } from './policies.ts';
import { live } from './run-worlds.ts';
import { FAIR, type Fate, type Trouble } from './trouble.ts';
import type { Violation } from './verdicts.ts';
import { type Build, NOON_UTC, World } from './world.ts';

/** A moment at which a process can die: in a call, counted from 1 over the message's life, before or after its effect. */
export interface CrashPoint {
  readonly call: number;
  readonly when: 'before' | 'after';
}

/** One message's life: what its handler does at each call, the last entry at all later ones. */
export interface Script {
  readonly name: string;
  readonly acts: readonly [Act, ...Act[]];
  /** Not an order, where the body is what fails. */
  readonly body?: string;
}

/** Every way in which a handler, or the message itself, can fail. */
export const SCRIPTS: readonly Script[] = [
  { name: 'succeeds', acts: ['succeeds'] },
  { name: 'fails for now, then succeeds', acts: ['fails for now', 'succeeds'] },
  { name: 'fails for now, always', acts: ['fails for now'] },
  { name: 'is asked for a pause, then succeeds', acts: ['asks for a pause', 'succeeds'] },
  { name: 'fails for good', acts: ['fails for good'] },
  { name: 'fails for now, then for good', acts: ['fails for now', 'fails for good'] },
  { name: 'fails as no rule knows', acts: ['fails as no rule knows'] },
  { name: 'is slow', acts: ['is slow'] },
  { name: 'hangs until its signal, then succeeds', acts: ['hangs until its signal', 'succeeds'] },
  { name: 'ignores its signal, then succeeds', acts: ['ignores its signal and fails', 'succeeds'] },
  { name: 'ignores its signal and succeeds, then again', acts: ['ignores its signal and succeeds', 'succeeds'] },
  { name: 'fails after its effect, then succeeds', acts: ['has its effect and fails for now', 'succeeds'] },
  { name: 'has a body that is not JSON', acts: ['succeeds'], body: '{"orderId":' },
  { name: 'has a body that the schema refuses', acts: ['succeeds'], body: '{"orderId":7}' },
];

const BUILD: Build = { name: 'A', policy: aPolicy({ attempts: 3, jitter: 'none' }), readsOwnId: false };
const EVENT_ID = 'order-1';

/** Kills whatever process makes one of the chosen calls; counts them all. */
class Killer implements Trouble {
  calls = 0;
  readonly #points: readonly CrashPoint[];

  constructor(points: readonly CrashPoint[]) {
    this.#points = points;
  }

  fateOf(): Fate {
    this.calls++;
    const point = this.#points.find(({ call }) => call === this.calls);
    return point ? { ...FAIR, kill: point.when } : FAIR;
  }

  isDown(): boolean {
    return false;
  }
}

/** How one life went. */
export interface LivedThrough {
  readonly calls: number;
  readonly effects: number;
  readonly deadLetters: number;
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
}

/** Lives one message's life with crashes at these points. */
export async function liveThrough(
  script: Script,
  points: readonly CrashPoint[],
  options: { readonly mistake?: Mistake; readonly isTraced?: boolean } = {},
): Promise<LivedThrough> {
  const killer = new Killer(points);
  const world = new World({
    seed: 1,
    build: BUILD,
    queue: { lockDurationInMs: 30_000, maxDeliveryCount: 10, duplicateDetectionWindowInMs: 600_000 },
    trouble: killer,
    act: (_eventId, call) => script.acts[call - 1] ?? script.acts.at(-1) ?? script.acts[0],
    ...options,
  });
  const body = script.body === undefined ? orderBody(EVENT_ID) : bodyOf(script.body);
  world.messages.produced(EVENT_ID);
  world.send(firstMessage(EVENT_ID, EVENT_ID, body, NOON_UTC, undefined));
  world.startInstance();
  const { violations, trace } = await live(world);
  return {
    calls: killer.calls,
    effects: world.effects.effectsOf(EVENT_ID),
    deadLetters: world.deadLetters.counts().active,
    violations,
    trace,
  };
}

/** What was tried, and the first life that went wrong. */
export interface Tried {
  readonly points: number;
  readonly pairs: number;
  readonly failure: { readonly script: Script; readonly points: readonly CrashPoint[] } | undefined;
}

const WHEN = ['before', 'after'] as const;

/** Tries every single crash of one life, and after each every second one. */
export async function tryEveryCrash(script: Script, mistake?: Mistake): Promise<Tried> {
  let points = 0;
  let pairs = 0;
  const options = mistake ? { mistake } : {};
  const whole = await liveThrough(script, [], options);
  const failed = (at: readonly CrashPoint[]): Tried => ({ points, pairs, failure: { script, points: at } });
  if (whole.violations.length > 0) return failed([]);
  for (let call = 1; call <= whole.calls; call++) {
    for (const when of WHEN) {
      const first = { call, when };
      const once = await liveThrough(script, [first], options);
      points++;
      if (once.violations.length > 0) return failed([first]);
      for (let later = call + 1; later <= once.calls; later++) {
        for (const then of WHEN) {
          const both = [first, { call: later, when: then }];
          const twice = await liveThrough(script, both, options);
          pairs++;
          if (twice.violations.length > 0) return failed(both);
        }
      }
    }
  }
  return { points, pairs, failure: undefined };
}
