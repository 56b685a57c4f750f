/** Renewal comes this long before the lock ends, or at half of what is left where that is shorter. */
const LARGEST_MARGIN_IN_MS = 10_000;

/** How long to wait before renewing a lock that holds for so long yet, in ms; as the .NET processor does. */
export function renewalDelayInMs(remainingInMs: number): number {
  if (remainingInMs < 400) return 0;
  return remainingInMs - Math.min(remainingInMs / 2, LARGEST_MARGIN_IN_MS);
}

/**
 * Renews one message's lock until it is told to stop, the limit is over, or the lock is lost. Per message and not by
 * the SDK, whose own renewal goes by MessageId and stops the wrong one where two messages share it.
 *
 * @param options.renew renews once and gives the new end of the lock.
 * @param options.limitInMs from now on; 0 renews nothing.
 * @param options.onError told about each renewal that failed; one that may succeed later is repeated.
 * @returns what stops it; nothing is renewed or reported afterwards.
 */
export function keepLockRenewed(options: {
  readonly lockedUntilUtc: Date;
  readonly limitInMs: number;
  readonly renew: () => Promise<Date>;
  readonly onError: (error: Error) => void;
}): () => void {
  const endsAtMs = Date.now() + options.limitInMs;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const plan = (lockedUntilUtc: Date) => {
    const now = Date.now();
    // A lock that outlives the limit by itself needs no renewal.
    if (stopped || now >= endsAtMs || lockedUntilUtc.getTime() >= endsAtMs) return;
    timer = setTimeout(renewOnce, renewalDelayInMs(lockedUntilUtc.getTime() - now));
  };
  const renewOnce = async () => {
    if (Date.now() >= endsAtMs) return;
    try {
      plan(await options.renew());
    } catch (error) {
      if (stopped) return;
      options.onError(error as Error);
      if ((error as { retryable?: boolean }).retryable) plan(new Date(Date.now() + 1_000));
    }
  };

  plan(options.lockedUntilUtc);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
