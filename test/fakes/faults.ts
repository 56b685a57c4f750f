import type { Journal } from './journal.ts';

/** What goes wrong with one call: it fails, or it succeeds and its reply is lost; the caller sees the error either way. */
export interface Fault {
  readonly kind: 'fails' | 'losesReply';
  readonly error: unknown;
}

/** The fault of each call, counted from 0; undefined where it goes well. */
export type Faults = (call: number) => Fault | undefined;

export const none: Faults = () => undefined;
export const always =
  (error: unknown): Faults =>
  () => ({ kind: 'fails', error });
/** The first calls fail; all others go well. */
export const first =
  (count: number, error: unknown): Faults =>
  (call) =>
    call < count ? { kind: 'fails', error } : undefined;
/** The first call has its effect, and its reply is lost. */
export const losesFirstReply =
  (error: unknown): Faults =>
  (call) =>
    call === 0 ? { kind: 'losesReply', error } : undefined;

/** Runs calls under a script of faults, each as one step of the journal. */
export function underFaults(journal: Journal, faults: Faults) {
  let calls = 0;
  return async <Value>(step: string, effect: () => Promise<Value>): Promise<Value> => {
    const fault = faults(calls++);
    if (fault?.kind === 'fails') {
      journal.write(`${step}: fails`);
      throw fault.error;
    }
    try {
      const value = await effect();
      journal.write(fault ? `${step}: reply lost` : step);
      if (fault) throw fault.error;
      return value;
    } catch (error) {
      if (error !== fault?.error) journal.write(`${step}: refused`);
      throw error;
    }
  };
}
