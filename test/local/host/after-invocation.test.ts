import { expect, test } from 'vitest';
import { afterInvocation } from '../../../local/host/service-bus/after-invocation.ts';

test.each([
  { settled: true, failed: false, autoComplete: false, next: 'nothing' },
  { settled: true, failed: true, autoComplete: false, next: 'nothing' },
  { settled: true, failed: false, autoComplete: true, next: 'nothing' },
  { settled: true, failed: true, autoComplete: true, next: 'nothing' },
  { settled: false, failed: true, autoComplete: false, next: 'abandon' },
  { settled: false, failed: true, autoComplete: true, next: 'abandon' },
  { settled: false, failed: false, autoComplete: false, next: 'leaveToLock' },
  { settled: false, failed: false, autoComplete: true, next: 'complete' },
])(
  'after an invocation [A1, A2, A3, A4]: settled $settled, failed $failed, autoComplete $autoComplete: $next',
  ({ next, ...invocation }) => {
    expect(afterInvocation(invocation)).toBe(next);
  },
);
