import type { Clock } from '../../functions/core/pipeline/ports.ts';

/** What the fakes were asked to do, in order. */
export interface Journal {
  write(step: string): void;
  /** Every step so far. */
  steps(): readonly string[];
  /** Every step so far, each after the second at which it was taken. */
  timeline(): readonly string[];
}

export function journal(clock: Pick<Clock, 'monotonicInMs'>): Journal {
  const entries: { readonly atInMs: number; readonly step: string }[] = [];
  return {
    write: (step) => entries.push({ atInMs: clock.monotonicInMs(), step }),
    steps: () => entries.map(({ step }) => step),
    timeline: () => entries.map(({ atInMs, step }) => `${atInMs / 1_000} s ${step}`),
  };
}
