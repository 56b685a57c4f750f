import { describe, test } from 'vitest';
import { browsingCases } from './broker/browsing.cases.ts';
import { type Case, CaseContext } from './broker/case.ts';
import { deadLetteringCases } from './broker/dead-lettering.cases.ts';
import { sendingCases } from './broker/sending.cases.ts';
import { sessionCases } from './broker/session.cases.ts';
import { settlingCases } from './broker/settling.cases.ts';
import { FEATURES, type Target } from './broker/target.ts';
import { timingCases } from './broker/timing.cases.ts';
import { topicCases } from './broker/topic.cases.ts';

/** Every case, by what it is about. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  sending: sendingCases,
  settling: settlingCases,
  'dead-lettering': deadLetteringCases,
  timing: timingCases,
  'browsing and deferring': browsingCases,
  sessions: sessionCases,
  topics: topicCases,
};

/**
 * Holds a Service Bus to what its users rely on, through the unmodified SDK alone. A case that needs what the target lacks
 * is skipped by name.
 */
export function describeBroker(target: Target): void {
  describe(target.name, () => {
    for (const [subject, cases] of Object.entries(CASES)) {
      describe(subject, () => {
        for (const one of cases) define(one, target);
      });
    }
  });
}

function define({ name, source, needs = [], run }: Case, target: Target): void {
  const lacking = needs.filter((feature) => target.lacks.has(feature));
  if (lacking.length > 0) {
    test.skip(
      `${name} (${source}); skipped: ${target.name} lacks what ${lacking.map((one) => FEATURES[one]).join(', ')}`,
    );
    return;
  }
  const options = { timeout: 90_000, concurrent: target.isIsolated };
  test(`${name} (${source})`, options, async () => {
    const targetRun = await target.begin();
    const context = new CaseContext(targetRun);
    try {
      await run(context);
    } finally {
      if (!target.isIsolated) await context.release();
      await targetRun.end();
    }
  });
}
