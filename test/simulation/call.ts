import type { Instance } from './instance.ts';
import type { Target } from './trouble.ts';

/** One call of a port, and for which delivery it is made. */
export interface PortCall<T> {
  readonly target: Target;
  readonly name: string;
  readonly lockToken: string;
  effect(): T;
  /** What the caller gets where the call fails, or its reply does not come. */
  failure(): Error;
}

/** The reply that never comes: its process is dead. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/**
 * Makes a port call over a network where requests and replies take time, get lost, and find the other side down, from a
 * process that may die in it. A request that is under way has its effect even where its process dies meanwhile.
 */
export function call<T>(instance: Instance, { target, name, lockToken, effect, failure }: PortCall<T>): Promise<T> {
  const { world } = instance;
  const { timeline, options } = world;
  if (instance.isDead) return never();
  const { trouble } = options;
  const fate = trouble.fateOf(target, name, timeline.nowUtc);
  if (fate.kill === 'before') {
    instance.die(`before ${name}`);
    return never();
  }
  world.requests++;
  if (target === 'send' || target === 'settle') world.brokerOperations++;
  return new Promise<T>((resolve, reject) => {
    const arrive = () => {
      world.requests--;
      const fails = fate.fault === 'fails' || trouble.isDown(target, timeline.nowUtc);
      let value: T | undefined;
      let error: unknown;
      try {
        if (!fails) value = effect();
        if (fate.fault === 'repeated' && !fails) value = effect();
      } catch (refused) {
        error = refused;
      }
      if (fails || fate.fault === 'replyLost') {
        error = failure();
        world.effects.callFailed(target, lockToken);
      }
      if (world.isTraced) {
        const fault = fails ? ': fails' : fate.fault ? `: ${fate.fault}` : error ? `: ${String(error)}` : '';
        world.trace(`${instance.name}${instance.isDead ? ' (dead)' : ''} ${name}${fault}`);
      }
      if (fate.kill === 'after') return instance.die(`after ${name}`);
      const reply = () => instance.resume(() => (error === undefined ? resolve(value as T) : reject(error)));
      if (fate.replyInMs > 0) timeline.in(fate.replyInMs, reply);
      else reply();
    };
    timeline.in(fate.requestInMs, arrive);
  });
}
