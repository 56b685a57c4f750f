import type { Chance } from './chance.ts';
import type { Fate, Target, Trouble } from './trouble.ts';

/** Shares of calls that go wrong, for one target. */
interface Rates {
  readonly dies: number;
  readonly fails: number;
  readonly replyLost: number;
  readonly repeated: number;
  readonly isSlow: number;
}

interface Outage {
  readonly target: Target;
  readonly fromUtc: number;
  readonly toUtc: number;
}

const TARGETS = ['store', 'send', 'settle', 'handler'] as const;
const MOST_DEATHS = 6;
const SLOW_IN_MS = 45_000;

/** Half of the time a kind of fault does not occur at all, so that each seed has a mix of its own. */
const rate = (chance: Chance, highest: number): number => (chance.hits(0.5) ? chance.next() * highest : 0);

/** Trouble by chance, until some instant: from then on all is well, so that every life can end. */
export class Weather implements Trouble {
  readonly calmFromUtc: number;
  readonly #chance: Chance;
  readonly #rates: Readonly<Record<Target, Rates>>;
  readonly #outages: Outage[];
  readonly #longestInMs: number;
  #deaths = 0;

  constructor(chance: Chance, nowUtc: number, horizonInMs: number) {
    this.#chance = chance;
    this.calmFromUtc = nowUtc + horizonInMs;
    const dies = rate(chance, 0.2);
    const ratesOf = (): Rates => ({
      dies,
      fails: rate(chance, 0.2),
      replyLost: rate(chance, 0.15),
      repeated: rate(chance, 0.1),
      isSlow: rate(chance, 0.1),
    });
    this.#rates = { store: ratesOf(), send: ratesOf(), settle: ratesOf(), handler: ratesOf() };
    this.#longestInMs = chance.pick([10, 300, 2_000]);
    this.#outages = chance.hits(0.4) ? [this.#outage(nowUtc, horizonInMs), this.#outage(nowUtc, horizonInMs)] : [];
  }

  #outage(nowUtc: number, horizonInMs: number): Outage {
    const fromUtc = nowUtc + this.#chance.between(0, horizonInMs / 4);
    const target = this.#chance.pick(TARGETS.slice(0, 3) as [Target, ...Target[]]);
    return { target, fromUtc, toUtc: fromUtc + this.#chance.between(1_000, horizonInMs / 3) };
  }

  fateOf(target: Target, _name: string, nowUtc: number): Fate {
    const chance = this.#chance;
    const requestInMs = chance.between(1, this.#longestInMs);
    if (nowUtc >= this.calmFromUtc) return { requestInMs: Math.min(requestInMs, 100), replyInMs: 0 };
    const { dies, fails, replyLost, repeated, isSlow } = this.#rates[target];
    if (this.#deaths < MOST_DEATHS && chance.hits(dies)) {
      this.#deaths++;
      return { requestInMs, replyInMs: 0, kill: chance.pick(['before', 'after']) };
    }
    const slowInMs = chance.hits(isSlow) ? chance.between(1_000, SLOW_IN_MS) : 0;
    const late = slowInMs > 0 && chance.hits(0.5);
    const fate = { requestInMs: requestInMs + (late ? 0 : slowInMs), replyInMs: late ? slowInMs : 0 };
    if (chance.hits(fails)) return { ...fate, fault: 'fails' };
    if (chance.hits(replyLost)) return { ...fate, fault: 'replyLost' };
    // Whoever settles does not ask again, and an effect that repeats itself would be the provider's affair.
    const canRepeat = target === 'store' || target === 'send';
    return canRepeat && chance.hits(repeated) ? { ...fate, fault: 'repeated' } : fate;
  }

  /** The target is down from now on, for this long. */
  breakDown(target: Target, nowUtc: number, lengthInMs: number): void {
    this.#outages.push({ target, fromUtc: nowUtc, toUtc: nowUtc + lengthInMs });
  }

  isDown(target: Target, nowUtc: number): boolean {
    return this.#outages.some(
      (outage) => outage.target === target && outage.fromUtc <= nowUtc && nowUtc < outage.toUtc,
    );
  }
}
