/** What the host does with one message after its invocation. */
export type AfterInvocation = 'nothing' | 'abandon' | 'complete' | 'leaveToLock';

/**
 * The table of the real host. A message that the function has settled is its own business; an invocation that throws
 * abandons at once, whatever autoCompleteMessages says; one that returns without settling leaves the message to its
 * lock, unless the host completes by itself.
 */
export function afterInvocation(invocation: {
  readonly failed: boolean;
  readonly settled: boolean;
  readonly autoComplete: boolean;
}): AfterInvocation {
  if (invocation.settled) return 'nothing';
  if (invocation.failed) return 'abandon';
  return invocation.autoComplete ? 'complete' : 'leaveToLock';
}
