import type { Firing } from '../invoker.ts';
import type { Listener } from '../listener.ts';
import type { Schedule } from './schedule.ts';

/** A timer of Node fires at once when it is set for longer than this. */
const LONGEST_TIMER_IN_MS = 2 ** 31 - 1;

export interface TimerOptions {
  readonly schedule: Schedule;
  readonly runOnStartup: boolean;
  readonly invoke: (firing: Firing) => Promise<unknown>;
}

/**
 * Fires a function by its schedule, never a second time while it still runs. No schedule status outlives the host, which
 * the real one keeps in storage: what was missed while no host ran is not caught up, and is never past due.
 */
export function startTimerListener({ schedule, runOnStartup, invoke }: TimerOptions): Listener {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let last: Date | undefined;
  let stopped = false;

  const fire = () => {
    const firedAt = new Date();
    running = invoke(firingAt(firedAt, last, schedule.nextAfter(firedAt))).then(() => {
      last = firedAt;
      plan(schedule.nextAfter(new Date()));
    });
  };
  const plan = (due: Date | undefined) => {
    if (stopped || !due) return;
    const delayInMs = due.getTime() - Date.now();
    timer = setTimeout(
      () => (Date.now() < due.getTime() ? plan(due) : fire()),
      Math.min(Math.max(delayInMs, 0), LONGEST_TIMER_IN_MS),
    );
  };

  if (runOnStartup) fire();
  else plan(schedule.nextAfter(new Date()));
  return {
    stopReceiving: async () => {
      stopped = true;
      clearTimeout(timer);
    },
    idle: async () => {
      await running;
    },
  };
}

function firingAt(firedAt: Date, last: Date | undefined, next: Date | undefined): Firing {
  const status = {
    // What .NET has for "never".
    Last: last?.toISOString() ?? '0001-01-01T00:00:00+00:00',
    Next: next?.toISOString() ?? '0001-01-01T00:00:00+00:00',
    LastUpdated: last?.toISOString() ?? '0001-01-01T00:00:00+00:00',
  };
  return {
    data: { json: JSON.stringify({ Schedule: { AdjustForDST: true }, ScheduleStatus: status, IsPastDue: false }) },
    triggerMetadata: {},
    reason: `Timer fired at ${firedAt.toISOString()}`,
  };
}
