import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_MESSAGES } from '../../local/scenario/built-in.ts';
import type { AttemptRow, Result } from '../../local/scenario/result.ts';
import { processesOf } from '../helpers/processes.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { bareClone, changesIn, isRepository } from './support/bare-clone.ts';
import { expectNoProcessOf, npmStart, run } from './support/command.ts';
import { withoutInstants } from './support/orders.ts';
import { project } from './support/project.ts';

const ENVIRONMENT = { npm_config_ignore_scripts: 'true', npm_config_prefer_offline: 'true' };

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What a row must hold, and how early it may be at most: how late is up to the machine. */
const row = (attempt: number, outcome: string, reason: string | null, delayMs: number | null): unknown => ({
  attempt,
  atMs: expect.any(Number),
  outcome,
  reason,
  delayMs,
  tries: 1,
});

const failure = (attempt: number, code: string, message: string) => ({
  generation: 0,
  attempt,
  at: '<instant>',
  code,
  message,
});

const bodyOf = (messageId: string): string | undefined =>
  BUILT_IN_MESSAGES.find((message) => message.messageId === messageId)?.body.toString('base64');

describe.skipIf(!isRepository)('npm start on a bare clone, with install scripts off', () => {
  let clone: string;
  let result: Result;

  beforeAll(async () => {
    clone = await aTemporaryFolder('bare-clone');
    await bareClone(clone);

    const command = npmStart(clone, ['--json'], ENVIRONMENT);
    const code = await command.ended;

    expect({ code, errors: code === 0 ? '' : command.stderr() }).toEqual({ code: 0, errors: '' });
    result = JSON.parse(command.stdout());
  }, 300_000);

  afterAll(async () => {
    for (const { pid } of processesOf(clone)) process.kill(pid, 'SIGKILL');
    await removeFolder(clone);
  });

  test('prints one object: who recovers is charged, who cannot succeed or stays down is dead-lettered', () => {
    const failed = 'the payment provider answered 503';
    expect(JSON.parse(withoutInstants(JSON.stringify(result)))).toEqual({
      events: [
        {
          messageId: 'A',
          eventId: 'A',
          attempts: [
            row(1, 'redelivered', 'Http503', 1_000),
            row(2, 'redelivered', 'Http503', 2_000),
            row(3, 'succeeded', null, null),
          ],
          final: 'completed',
        },
        {
          messageId: 'B',
          eventId: 'B',
          attempts: [row(1, 'dead-lettered', 'UnsupportedCurrency', null)],
          final: 'dead-lettered',
        },
        {
          messageId: 'C',
          eventId: 'C',
          attempts: [
            row(1, 'redelivered', 'Http503', 1_000),
            row(2, 'redelivered', 'Http503', 2_000),
            row(3, 'redelivered', 'Http503', 4_000),
            row(4, 'dead-lettered', 'AttemptsExhausted', null),
          ],
          final: 'dead-lettered',
        },
      ],
      deadLetterQueue: [
        {
          messageId: 'B',
          reason: 'UnsupportedCurrency',
          description:
            'attempt 1 of 4, first failed <instant>, last failed <instant>: UnsupportedCurrency: order order-B is in XXX',
          applicationProperties: {
            'retry-error-code': 'UnsupportedCurrency',
            'retry-error-message': 'order order-B is in XXX',
            'retry-first-failed-utc': '<instant>',
            'retry-last-failed-utc': '<instant>',
            'retry-history': JSON.stringify([failure(1, 'UnsupportedCurrency', 'order order-B is in XXX')]),
          },
          bodyBase64: bodyOf('B'),
        },
        {
          messageId: expect.stringMatching(/^C~r3~[0-9a-f]{8}$/),
          reason: 'AttemptsExhausted',
          description: `attempt 4 of 4, first failed <instant>, last failed <instant>: Http503: ${failed}`,
          applicationProperties: {
            'Diagnostic-Id': expect.stringMatching(TRACEPARENT),
            traceparent: expect.stringMatching(TRACEPARENT),
            'retry-version': 1,
            'retry-consumer': 'billing-order-placed/order-placed',
            'retry-event-id': 'C',
            'retry-attempt': 3,
            'retry-first-enqueued-utc': '<instant>',
            'retry-first-failed-utc': '<instant>',
            'retry-last-failed-utc': '<instant>',
            'retry-not-before-utc': '<instant>',
            'retry-deadline-utc': '<instant>',
            'retry-error-code': 'Http503',
            'retry-error-message': failed,
            'retry-history': JSON.stringify([1, 2, 3, 4].map((attempt) => failure(attempt, 'Http503', failed))),
            'retry-policy': 'order-placed',
          },
          bodyBase64: bodyOf('C'),
        },
      ],
      charges: [{ orderId: 'order-A', count: 1 }],
      ok: true,
    });
  });

  test('keeps every delay: no attempt comes early', () => {
    const early = result.events.flatMap(({ messageId, attempts }) =>
      attempts.filter(({ attempt, atMs }: AttemptRow) => atMs < (2 ** (attempt - 1) - 1) * 1_000).map(() => messageId),
    );

    expect(early).toEqual([]);
  });

  test('brings the pinned Node', async () => {
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    const pinned = Object.entries(packages as Record<string, { version: string }>)
      .filter(([name]) => name === `node_modules/node-${process.platform.replace('win32', 'win')}-${process.arch}`)
      .map(([, { version }]) => `v${version}\n`);

    const command = run(clone, ['node', 'local/bootstrap.mjs', 'node', '--version'], ENVIRONMENT);

    expect([await command.ended, command.stdout()]).toEqual([0, pinned[0] ?? expect.any(String)]);
  });

  test('leaves no process behind, and no file that git sees', async () => {
    await expectNoProcessOf(clone);
    expect(changesIn(clone)).toEqual([]);
  });
});
