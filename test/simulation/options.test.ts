import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

const read = (line: string) => readOptions(line.split(' ').filter(Boolean));

test.each([
  ['--seeds 100', { kind: 'lives', from: 1, count: 100 }],
  ['--seeds 100 --seed 7', { kind: 'lives', from: 7, count: 100 }],
  ['--seed 7 --trace', { kind: 'trace', seed: 7 }],
  ['--outage store', { kind: 'outages', targets: ['store'], minutes: 60, messagesPerSecond: 200 }],
  [
    '--outage both --minutes 5 --rate 10',
    { kind: 'outages', targets: ['store', 'send'], minutes: 5, messagesPerSecond: 10 },
  ],
])('reads %s', (line, options) => {
  expect(read(line)).toEqual(options);
});

test.each([
  ['', 'expected --seeds N, --seed S --trace, or --outage store|send|both'],
  ['--seeds 0', '--seeds: expected a whole number from 1 to 2147483647, got "0"'],
  ['--seeds many', '--seeds: expected a whole number from 1 to 2147483647, got "many"'],
  ['--seeds 1e3', '--seeds: expected a whole number from 1 to 2147483647, got "1e3"'],
  ['--seeds 10 --seed 1.5', '--seed: expected a whole number from 1 to 2147483647, got "1.5"'],
  ['--seeds 10 --seed -1', "Option '--seed' argument is ambiguous."],
  ['--seeds', "Option '--seeds <value>' argument missing"],
  ['--seeds 10 --sed 1', "Unknown option '--sed'"],
  ['--seeds 10 20', "Unexpected argument '20'. This command does not take positional arguments"],
  ['--trace', '--trace: expected --seed S beside it'],
  ['--outage queue', '--outage: expected store, send or both, got "queue"'],
  ['--outage send --rate 0', '--rate: expected a whole number from 1 to 1000, got "0"'],
])('says in one line what is wrong with "%s"', (line, problem) => {
  expect(read(line)).toEqual({ kind: 'problem', problem });
});
