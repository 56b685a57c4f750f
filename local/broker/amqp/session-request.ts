import rhea, { type Sender } from 'rhea';

const SESSION_FILTER = 'com.microsoft:session-filter';
const LOCKED_UNTIL = 'com.microsoft:locked-until-utc';
const TIMEOUT = 'com.microsoft:timeout';
const DEFAULT_TIMEOUT_IN_MS = 60_000;
/** .NET counts time in units of 100 ns from the year 1. */
const TICKS_PER_MS = 10_000n;
const TICKS_AT_EPOCH = 621_355_968_000_000_000n;

/** Which session a client wants on a receiving link: none, one by its id, or the next that is free. */
export type SessionRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'named'; readonly sessionId: string }
  | { readonly kind: 'next'; readonly timeoutInMs: number };

/** Reads the session filter of a link. An absent filter asks for no session, a null one for any. */
export function sessionRequestOf(sender: Sender): SessionRequest {
  const filter = sender.source?.filter ?? {};
  if (!(SESSION_FILTER in filter)) return { kind: 'none' };
  const value = filter[SESSION_FILTER]?.value ?? filter[SESSION_FILTER];
  if (typeof value === 'string') return { kind: 'named', sessionId: value };
  const timeout = sender.properties?.[TIMEOUT];
  return { kind: 'next', timeoutInMs: typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT_IN_MS };
}

/** The source filter that tells a client which session it was given. */
export function grantedFilter(sessionId: string): Record<string, unknown> {
  return { [SESSION_FILTER]: sessionId };
}

/** The link property that tells a client how long its lock on the session lasts. */
export function lockedUntilProperty(lockedUntilUtc: number): Record<string, unknown> {
  const ticks = Buffer.alloc(8);
  ticks.writeBigInt64BE(BigInt(lockedUntilUtc) * TICKS_PER_MS + TICKS_AT_EPOCH);
  return { [LOCKED_UNTIL]: rhea.types.wrap_long(ticks) };
}
