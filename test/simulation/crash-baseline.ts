/** How many crash points and pairs each script has had: fewer would mean that something is no longer looked at. */
export const CRASHES: Readonly<Record<string, { readonly points: number; readonly pairs: number }>> = {
  succeeds: { points: 8, pairs: 58 },
  'fails for now, then succeeds': { points: 18, pairs: 254 },
  'fails for now, always': { points: 28, pairs: 554 },
  'is asked for a pause, then succeeds': { points: 18, pairs: 206 },
  'fails for good': { points: 8, pairs: 42 },
  'fails for now, then for good': { points: 18, pairs: 238 },
  'fails as no rule knows': { points: 8, pairs: 42 },
  'is slow': { points: 8, pairs: 58 },
  'hangs until its signal, then succeeds': { points: 18, pairs: 242 },
  'ignores its signal, then succeeds': { points: 12, pairs: 106 },
  'ignores its signal and succeeds, then again': { points: 12, pairs: 106 },
  'fails after its effect, then succeeds': { points: 20, pairs: 278 },
  'has a body that is not JSON': { points: 8, pairs: 42 },
  'has a body that the schema refuses': { points: 8, pairs: 42 },
};

/** The sums over all scripts. */
export function leastCrashes(): { points: number; pairs: number } {
  const all = Object.values(CRASHES);
  const sum = (of: 'points' | 'pairs') => all.reduce((total, crashes) => total + crashes[of], 0);
  return { points: sum('points'), pairs: sum('pairs') };
}
