/** What must never be seen in a life, whatever goes wrong. */
export const INVARIANTS = [
  'lost',
  'completed too early',
  'completed without its effect',
  'effect recorded twice',
  'effect twice without a fault',
  'effect without its record',
  'two handlers at once',
  'runs without its lease',
  'runs again after its end',
  'another idempotency key',
  'attempt beyond the policy',
  'runs past its crash limit',
  'runs in its last delivery',
  'fork',
  'settled twice',
  'hot loop',
  'does not end',
  'dead letter without a reason',
  'dead-lettered in an outage',
  'throws',
] as const;

export type Invariant = (typeof INVARIANTS)[number];

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** What was found in one life, and where it was asked for, how it went. */
export class Verdicts {
  readonly violations: Violation[] = [];
  readonly trace: string[] = [];

  violated(invariant: Invariant, detail: string): void {
    this.violations.push({ invariant, detail });
    this.trace.push(`            VIOLATION: ${invariant}: ${detail}`);
  }
}
