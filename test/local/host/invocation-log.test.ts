import { afterEach, expect, test } from 'vitest';
import type { InvocationEvent } from '../../../local/host/invoker.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

const log = aLog();
const nothingIsLeft = takeStock();
let host: Host;

afterEach(async () => {
  await host.stop();
  await nothingIsLeft();
});

test('each invocation has its lines, with the name of the function and its id, and its events', async () => {
  const events: InvocationEvent[] = [];
  const onInvocation = (event: InvocationEvent) => events.push(event);
  host = await startHost({ appDirectory: fixtureApp('web'), settings: {}, onLog: log.onLog, onInvocation });
  for (const path of ['nothing', 'failing']) await fetch(`http://127.0.0.1:${host.httpPort}/api/${path}`);

  const [nothing, , failing] = events.map(({ invocationId }) => invocationId);
  const durationInMs = expect.any(Number);
  expect(events).toEqual([
    { kind: 'started', functionName: 'nothing', invocationId: nothing },
    { kind: 'succeeded', functionName: 'nothing', invocationId: nothing, durationInMs },
    { kind: 'started', functionName: 'failing', invocationId: failing },
    { kind: 'failed', functionName: 'failing', invocationId: failing, durationInMs, error: 'thrown on purpose' },
  ]);
  const line = (functionName: string, level: string, message: unknown, invocationId: string | undefined) => ({
    level,
    category: `Function.${functionName}`,
    message,
    functionName,
    invocationId,
  });
  const why = 'This function was programmatically called via the host APIs.';
  expect(log.entries.filter(({ invocationId }) => invocationId)).toEqual([
    line('nothing', 'information', `Executing 'Functions.nothing' (Reason='${why}', Id=${nothing})`, nothing),
    line(
      'nothing',
      'information',
      expect.stringMatching(`^Executed 'Functions.nothing' \\(Succeeded, Id=${nothing}, Duration=\\d+ms\\)$`),
      nothing,
    ),
    line('failing', 'information', `Executing 'Functions.failing' (Reason='${why}', Id=${failing})`, failing),
    line(
      'failing',
      'error',
      expect.stringMatching(
        `^Executed 'Functions.failing' \\(Failed, Id=${failing}, Duration=\\d+ms\\)\nError: thrown on purpose\n    at `,
      ),
      failing,
    ),
  ]);
});
