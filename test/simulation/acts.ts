import { HttpStatusError, PermanentError, TransientError } from '../../functions/core/rules/errors.ts';
import type { HandlerContext } from '../../functions/core/rules/handler.ts';
import { call } from './call.ts';
import type { Instance } from './instance.ts';

/** What a handler does in one call. */
export const ACTS = [
  'succeeds',
  'fails for now',
  'asks for a pause',
  'fails for good',
  'fails as no rule knows',
  'is slow',
  'hangs until its signal',
  'ignores its signal and succeeds',
  'ignores its signal and fails',
  'has its effect and fails for now',
  'kills its process',
] as const;

export type Act = (typeof ACTS)[number];

const WORK_IN_MS = 40;

/** Does one act in a process. The effect is a call to someone else, like any other. */
export async function perform(
  act: Act,
  instance: Instance,
  context: HandlerContext,
  hasEffect: () => void,
): Promise<void> {
  const work = (inMs: number): Promise<void> => instance.clock.sleep(inMs);
  const effect = (): Promise<void> =>
    call(instance, {
      target: 'handler',
      name: `has the effect of ${context.eventId}`,
      lockToken: context.delivery.lockToken,
      effect: hasEffect,
      failure: () => new TransientError('the provider does not answer'),
    });
  switch (act) {
    case 'succeeds':
      return effect();
    case 'fails for now':
      await work(WORK_IN_MS);
      throw new TransientError('not now');
    case 'asks for a pause':
      await work(WORK_IN_MS);
      throw new HttpStatusError(429, 'too many', { retryAfter: '20' });
    case 'fails for good':
      await work(WORK_IN_MS);
      throw new PermanentError('NoSuchOrder', 'never');
    case 'fails as no rule knows':
      await work(WORK_IN_MS);
      throw new Error('what is this');
    case 'is slow':
      await work(7_000);
      return effect();
    case 'hangs until its signal':
      await instance.clock.sleep(10 ** 9, context.signal);
      throw context.signal.reason;
    case 'ignores its signal and succeeds':
      await work(90_000);
      return effect();
    case 'ignores its signal and fails':
      await work(90_000);
      throw new TransientError('at last');
    case 'has its effect and fails for now':
      await effect();
      throw new TransientError('after the effect');
    case 'kills its process':
      await work(WORK_IN_MS);
      instance.die('by its handler');
      return work(1);
  }
}
