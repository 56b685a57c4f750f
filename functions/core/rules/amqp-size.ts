import type { PropertyValue } from './delivery.ts';
import { sizeInBytes } from './text.ts';

/**
 * How many bytes a property takes in an AMQP map, name and value with their type codes (AMQP 1.0, part 1, section 1.6):
 * `most` with every length in four bytes, `least` with every length in one. A rule about room counts what comes by the
 * one and what goes by the other, and so errs on the safe side only.
 */
export function propertySizeInBytes(name: string, property: PropertyValue): { most: number; least: number } {
  const key = sizeInBytes(name);
  const content = contentSizeInBytes(property);
  return content === undefined
    ? { most: 5 + key + 17, least: 2 + key + 1 }
    : { most: 5 + key + 5 + content, least: 2 + key + 2 + content };
}

/** Bytes of a value of variable length; undefined for the others, of which a uuid is the widest and null the least. */
function contentSizeInBytes({ type, value }: PropertyValue): number | undefined {
  if (value instanceof Uint8Array) return value.length;
  return type === 'string' || type === 'symbol' ? sizeInBytes(String(value)) : undefined;
}
