import { diag } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { sayExportTrouble } from '../../../../functions/core/adapters/telemetry/export-trouble.ts';

afterEach(() => diag.disable());

test('an endpoint that is down is said once, then once in ten minutes with what was not said', () => {
  let nowInMs = 0;
  const lines: unknown[] = [];
  sayExportTrouble({ monotonicInMs: () => nowInMs }, (line) => lines.push(JSON.parse(line)));

  for (nowInMs = 0; nowInMs <= 600_000; nowInMs += 5_000) diag.error('ECONNREFUSED 127.0.0.1:4318');

  const trouble = { event: 'telemetry.trouble', message: 'ECONNREFUSED 127.0.0.1:4318' };
  expect(lines).toEqual([
    { ...trouble, unsaid: 0 },
    { ...trouble, unsaid: 119 },
  ]);
});

test('what is said holds no secret, and nothing is said of what is well', () => {
  const lines: string[] = [];
  sayExportTrouble({ monotonicInMs: () => 0 }, (line) => lines.push(line));
  diag.info('exported');
  diag.warn('refused', 'Authorization: Bearer abc.def.ghi');

  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['refused Authorization: Bearer [redacted]']);
});
