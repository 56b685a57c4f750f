import type { Body } from '../../rules/delivery.ts';
import { contentOf, elementsOf, isPlainMap, itemsOf, startOfPlain } from './amqp-encoding.ts';
import { toProperty } from './amqp-property.ts';
import { SECTION, type Section } from './amqp-sections.ts';

/** Deeper than any message that means something, far from the end of the stack. */
const DEEPEST = 200;

/**
 * The body in a message's sections. Only the bytes of a data section count, whatever type they are declared as; a value or a
 * sequence becomes plain JavaScript. Total: a message must reach the step that dead-letters it for its body.
 */
export function bodyOf(sections: readonly Section[]): Body {
  try {
    return read(sections);
  } catch (error) {
    return { kind: 'unreadable', problem: (error as Error).message };
  }
}

function read(sections: readonly Section[]): Body {
  const of = (code: number): Buffer[] => sections.filter((section) => section.code === code).map(({ value }) => value);
  const data = of(SECTION.data);
  if (data.length > 0) return { kind: 'data', bytes: joined(data.map((value) => contentOf(value) ?? Buffer.alloc(0))) };
  const [value] = of(SECTION.value);
  if (value) return { kind: 'value', bytes: contentOf(value.subarray(startOfPlain(value))), value: plain(value, 0) };
  const sequences = of(SECTION.sequence);
  if (sequences.length === 0) return { kind: 'absent' };
  return { kind: 'sequence', bytes: undefined, value: sequences.flatMap((list) => plain(list, 0)) };
}

/** One section, the usual case, is not copied. */
const joined = (parts: readonly Buffer[]): Buffer => (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));

/**
 * A value as plain JavaScript: integers of 64 bits as numbers where those are exact and else as bigint, timestamps as dates,
 * uuids, chars and symbols as strings, maps as objects; descriptors are left out.
 */
function plain(bytes: Buffer, depth: number): unknown {
  if (depth > DEEPEST) throw new RangeError(`an AMQP value is nested deeper than ${DEEPEST}`);
  const value = bytes.subarray(startOfPlain(bytes));
  if (isPlainMap(value)) return objectOf(itemsOf(value), depth);
  const category = (value[0] ?? 0) >> 4;
  if (value[0] === 0x45 || category === 0xc || category === 0xd)
    return itemsOf(value).map((item) => plain(item, depth + 1));
  if (category >= 0xe) return elementsOf(value).map((element) => plain(element, depth + 1));
  const property = toProperty(value);
  if (property.type === 'timestamp') return new Date(Number(property.value));
  if (typeof property.value !== 'bigint') return property.value;
  const number = Number(property.value);
  return Number.isSafeInteger(number) ? number : property.value;
}

function objectOf(items: readonly Buffer[], depth: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (let at = 0; at < items.length; at += 2) {
    const [key, value] = [items[at], items[at + 1]];
    if (key && value) entries.push([String(toProperty(key).value), plain(value, depth + 1)]);
  }
  return Object.fromEntries(entries);
}
