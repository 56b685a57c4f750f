import type { Properties } from '../model/content.ts';
import type { Settlement } from '../model/outcomes.ts';
import { CONDITION } from './conditions.ts';
import { encodedValue, type WireValue } from './wire-values.ts';

const OUTCOME = { received: 0x23, accepted: 0x24, rejected: 0x25, released: 0x26, modified: 0x27 } as const;
const DEAD_LETTER_REASON = 'DeadLetterReason';
const DEAD_LETTER_DESCRIPTION = 'DeadLetterErrorDescription';

/** What a client's disposition asks for; `undefined` when it asks for nothing, as `received` does. */
export function settlementOf(state: WireValue): Settlement | undefined {
  const fields = listOf(state);
  switch (Number(contentOf(descriptorOf(state)))) {
    case OUTCOME.accepted:
      return { kind: 'complete' };
    case OUTCOME.released:
      return { kind: 'release' };
    case OUTCOME.modified: {
      const properties = propertiesOf(fields[2]);
      return contentOf(fields[1]) === true ? { kind: 'defer', properties } : { kind: 'abandon', properties };
    }
    case OUTCOME.rejected:
      return deadLetter(listOf(fields[0]));
    default:
      return undefined;
  }
}

/**
 * Application properties from a map, each value in the very type in which the client sent it. Nulls are left out: clients
 * write one for a property that was not given.
 */
export function propertiesOf(map: WireValue | undefined): Properties | undefined {
  const items = listOf(map);
  const properties = new Map<string, Buffer>();
  for (let index = 0; index + 1 < items.length; index += 2) {
    const value = items[index + 1];
    if (contentOf(value) !== null && value !== undefined)
      properties.set(String(contentOf(items[index])), encodedValue(value));
  }
  return properties.size === 0 ? undefined : properties;
}

/** The service keeps the reason and the description of a rejection in application properties, with all the others. */
function deadLetter(error: readonly WireValue[]): Settlement {
  const properties = propertiesOf(error[2]);
  if (contentOf(error[0]) === CONDITION.deadLetter || error.length === 0) return { kind: 'deadLetter', properties };
  const reason = properties?.has(DEAD_LETTER_REASON) ? undefined : textOf(error[0]);
  const description = properties?.has(DEAD_LETTER_DESCRIPTION) ? undefined : textOf(error[1]);
  return { kind: 'deadLetter', reason, description, properties };
}

function textOf(value: WireValue | undefined): string | undefined {
  const text = contentOf(value);
  return typeof text === 'string' ? text : undefined;
}

function descriptorOf(value: WireValue): WireValue | undefined {
  return (value as { descriptor?: WireValue }).descriptor;
}

function listOf(value: WireValue | undefined): readonly WireValue[] {
  const items = contentOf(value);
  return Array.isArray(items) ? items : [];
}

function contentOf(value: WireValue | undefined): unknown {
  return (value as { value?: unknown } | undefined)?.value;
}
