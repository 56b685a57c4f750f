import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inCopy, npmStart } from './support/command.ts';
import { anOrder } from './support/orders.ts';

const jsonLines = (...lines: readonly unknown[]) => lines.map((line) => JSON.stringify(line)).join('\n');

test.concurrent('prints one line an attempt, without escape codes where it is not a terminal', async () => {
  await inCopy(async (folder) => {
    const permanent = { ...anOrder('B'), body: { orderId: 'order-B', amount: 25, currency: 'XXX' } };
    await writeFile(join(folder, 'input.jsonl'), jsonLines(permanent, anOrder('order', [503, 200])));

    const command = npmStart(folder, ['--input', 'input.jsonl']);

    expect([await command.ended, command.stderr()]).toEqual([0, '']);
    const [head, ...lines] = command
      .stdout()
      .replace(/^ *\d+\.\d s/gm, '<at>')
      .replace(/\d{4}-[\d-]+T[\d:.]+Z/g, '<instant>')
      .split('\n');
    expect(head).toBe('building the app, then starting broker, Azurite, payment provider and host on free ports');
    // Which message of several is first is nobody's promise.
    expect(lines.splice(0, 3).sort()).toEqual([
      '<at>  B      attempt 1 of 4  dead-lettered  UnsupportedCurrency',
      '<at>  order  attempt 1 of 4  redelivered    Http503, next in 1.0 s',
      '<at>  order  attempt 2 of 4  succeeded',
    ]);
    expect(lines).toEqual([
      'dead-letter queue: 1 message',
      '  B  UnsupportedCurrency',
      '    attempt 1 of 4, first failed <instant>, last failed <instant>: UnsupportedCurrency: order order-B is in XXX',
      'charged order-order once',
      'every message has come to an end, nobody was charged twice',
      '',
    ]);
  });
});

test.concurrent('prints nothing but one object with --json; at --timeout the rest is pending, and it fails', async () => {
  await inCopy(async (folder) => {
    await writeFile(join(folder, 'input.jsonl'), jsonLines(anOrder('done'), anOrder('waits', [503])));

    const command = npmStart(folder, ['--input', 'input.jsonl', '--json', '--timeout', '6'], {
      RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '60000',
    });

    expect([await command.ended, command.stderr()]).toEqual([1, 'not as expected: waits is still pending\n']);
    const attempt = { attempt: 1, atMs: expect.any(Number), tries: 1 };
    expect(JSON.parse(command.stdout())).toEqual({
      events: [
        {
          messageId: 'done',
          eventId: 'done',
          attempts: [{ ...attempt, outcome: 'succeeded', reason: null, delayMs: null }],
          final: 'completed',
        },
        {
          messageId: 'waits',
          eventId: 'waits',
          attempts: [{ ...attempt, outcome: 'redelivered', reason: 'Http503', delayMs: 60_000 }],
          final: 'pending',
        },
      ],
      deadLetterQueue: [],
      charges: [{ orderId: 'order-done', count: 1 }],
      ok: false,
    });
  });
});

test.concurrent('refuses every bad line of an input file by number and reason before anything starts', async () => {
  await inCopy(async (folder) => {
    const lines = [
      JSON.stringify(anOrder('good')),
      '{"messageId":',
      '[]',
      '{"body":1}',
      '',
      '{"messageId":"neither"}',
      '{"messageId":"both","body":1,"bodyBase64":"AA=="}',
      '{"messageId":"base64","bodyBase64":"%"}',
      '{"messageId":"unknown","body":1,"retries":3}',
      '{"messageId":"answer","body":1,"provider":["slow"]}',
      '{"messageId":"none","body":1,"provider":[]}',
      '{"messageId":"life","body":1,"timeToLiveInMs":0}',
    ];
    await writeFile(join(folder, 'input.jsonl'), lines.join('\r\n'));

    const command = npmStart(folder, ['--input', 'input.jsonl', '--json']);

    expect([await command.ended, command.stdout()]).toEqual([1, '']);
    expect(command.stderr().split('\n')).toEqual([
      'npm start: input.jsonl:2: expected a JSON object: Unexpected end of JSON input',
      'input.jsonl:3: Invalid input: expected object, received array',
      'input.jsonl:4: messageId: Invalid input: expected string, received undefined',
      'input.jsonl:6: expected one of body and bodyBase64',
      'input.jsonl:7: expected one of body and bodyBase64',
      'input.jsonl:8: bodyBase64: Invalid base64-encoded string',
      'input.jsonl:9: Unrecognized key: "retries"',
      'input.jsonl:10: provider.0: expected a status from 200 to 599, {"status", "retryAfter"}, "timeout" or "reset"',
      'input.jsonl:11: provider: Too small: expected array to have >=1 items',
      'input.jsonl:12: timeToLiveInMs: Too small: expected number to be >=1',
      '',
    ]);
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });
});

test.concurrent.each([
  { args: ['--input', 'nowhere.jsonl'], line: 'npm start: --input: cannot read nowhere.jsonl (ENOENT)' },
  { args: ['--timeout', 'soon'], line: 'npm start: --timeout: expected seconds from 1 to 86400, got "soon"' },
  { args: ['--jsn'], line: "npm start: Unknown option '--jsn'" },
])('refuses $args in one line', async ({ args, line }) => {
  await inCopy(async (folder) => {
    const command = npmStart(folder, args);

    expect([await command.ended, command.stdout(), command.stderr().split('\n')[0]]).toEqual([1, '', line]);
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });
});

test.concurrent('does not install through a link, which would empty the folder that it leads to', async () => {
  await inCopy(async (folder) => {
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'precious'), '');
    await rm(join(folder, 'node_modules'));
    await symlink(elsewhere, join(folder, 'node_modules'), 'junction');

    const command = npmStart(folder, []);

    expect([await command.ended, command.stdout(), command.stderr()]).toEqual([
      1,
      '',
      'bootstrap: node_modules is a link, and npm ci would empty the folder that it leads to. What to do: install there, or remove the link.\n',
    ]);
    expect(await readdir(elsewhere)).toEqual(['precious']);
  });
});

test.concurrent('names every bad setting of its environment, and leaves nothing running', async () => {
  await inCopy(async (folder) => {
    const command = npmStart(folder, ['--json'], {
      RETRY__ORDER_PLACED__ATTEMPTS: 'many',
      RETRY__ORDER_PLACED__JITER: 'none',
    });

    expect([await command.ended, command.stdout()]).toEqual([1, '']);
    expect(command.stderr().split('\n')).toEqual([
      'npm start: The app refuses to start, no message was touched:',
      '  - RETRY__ORDER_PLACED__JITER: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of order-placed',
      '  - RETRY__ORDER_PLACED__ATTEMPTS: Invalid input: expected number, received string; got "many"',
      '',
    ]);
  });
});
