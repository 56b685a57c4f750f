import rhea from 'rhea';
import type { Settlement } from '../model/outcomes.ts';
import type { AmqpError } from './conditions.ts';

type Described = { described(): unknown };
const factory = rhea.message as unknown as {
  accepted(): Described;
  released(): Described;
  rejected(fields: { error?: AmqpError }): Described;
  modified(fields: { undeliverable_here: boolean }): Described;
};

/** One for all: nothing writes to an outcome, and there is one for every message. */
const ACCEPTED = factory.accepted().described();

/** The outcome that takes what the client sent. */
export function accepted(): unknown {
  return ACCEPTED;
}

/** The outcome that refuses what the client sent, and says why. */
export function rejected(error: AmqpError): unknown {
  return factory.rejected({ error }).described();
}

/** The outcome that confirms a settlement: the client's own, without its error, which clients would take for a failure. */
export function confirmed(kind: Settlement['kind']): unknown {
  switch (kind) {
    case 'complete':
      return accepted();
    case 'abandon':
      return factory.modified({ undeliverable_here: false }).described();
    case 'defer':
      return factory.modified({ undeliverable_here: true }).described();
    case 'deadLetter':
      return factory.rejected({}).described();
    case 'release':
      return factory.released().described();
  }
}
