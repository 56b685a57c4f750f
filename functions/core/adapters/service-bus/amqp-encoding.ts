/** Bytes after the constructor, or before the content, by the upper half of a constructor (AMQP 1.0, part 1, section 1.2). */
const FIXED_WIDTHS: Readonly<Record<number, number>> = { 4: 0, 5: 1, 6: 2, 7: 4, 8: 8, 9: 16 };
const SIZE_WIDTHS: Readonly<Record<number, number>> = { 10: 1, 11: 4, 12: 1, 13: 4, 14: 1, 15: 4 };

/** Constructor of a described value: a descriptor follows, then the value itself. */
const DESCRIBED = 0x00;
const NULL = 0x40;
const LIST0 = 0x45;

const isList = (code: number): boolean => code === 0xc0 || code === 0xd0;
const isMap = (code: number): boolean => code === 0xc1 || code === 0xd1;

/**
 * Where the encoded value that starts at `start` ends. Nothing is decoded, and what it takes is bounded by the number of
 * bytes: lengths are believed only as far as there are bytes, and nesting costs no stack.
 *
 * @throws RangeError where the bytes end before the value does
 * @throws TypeError where no type has such a constructor
 */
export function endOfValue(bytes: Buffer, start: number): number {
  let position = start;
  for (let pending = 1; pending > 0; ) {
    const code = unsignedAt(bytes, position, 1);
    position += 1;
    if (code === DESCRIBED) {
      pending += 1;
      continue;
    }
    position += widthOf(bytes, code, position);
    if (position > bytes.length) throw new RangeError(`the AMQP value at byte ${start} reaches past the end`);
    pending -= 1;
  }
  return position;
}

function widthOf(bytes: Buffer, code: number, position: number): number {
  const fixed = FIXED_WIDTHS[code >> 4];
  if (fixed !== undefined) return fixed;
  const size = SIZE_WIDTHS[code >> 4];
  if (size === undefined) throw new TypeError(`no AMQP type has the constructor 0x${code.toString(16)}`);
  return size + unsignedAt(bytes, position, size);
}

/** @throws RangeError where the bytes end before the number does */
function unsignedAt(bytes: Buffer, position: number, width: number): number {
  if (position + width > bytes.length) throw new RangeError('the AMQP message is cut off');
  return bytes.readUIntBE(position, width);
}

/** Where the value itself starts, behind the descriptors of a described one. */
export function startOfPlain(bytes: Buffer): number {
  let start = 0;
  while (bytes[start] === DESCRIBED) start = endOfValue(bytes, start + 1);
  return start;
}

/** Content of a binary, string or symbol: what stands behind the constructor and the length; undefined for other types. */
export function contentOf(value: Buffer): Buffer | undefined {
  const category = (value[0] ?? 0) >> 4;
  return category === 0xa ? value.subarray(2) : category === 0xb ? value.subarray(5) : undefined;
}

/**
 * The items of an encoded list, or the keys and values of an encoded map in turn, each as the bytes it stands in. Null
 * has none.
 *
 * @throws RangeError or TypeError where it is neither, or is cut off
 */
export function itemsOf(compound: Buffer): Buffer[] {
  const code = unsignedAt(compound, 0, 1);
  if (code === NULL || code === LIST0) return [];
  if (!isList(code) && !isMap(code)) {
    throw new TypeError(`expected an AMQP list or map, got the constructor 0x${code.toString(16)}`);
  }
  const width = SIZE_WIDTHS[code >> 4] ?? 1;
  const count = unsignedAt(compound, 1 + width, width);
  if (isMap(code) && count % 2 !== 0)
    throw new TypeError(`expected keys and values in an AMQP map, got ${count} items`);
  return cutItems(compound, 1 + 2 * width, count);
}

function cutItems(bytes: Buffer, first: number, count: number): Buffer[] {
  const items: Buffer[] = [];
  for (let start = first; items.length < count; ) {
    const end = endOfValue(bytes, start);
    items.push(bytes.subarray(start, end));
    start = end;
  }
  return items;
}

/** The most elements of an array whose type takes no bytes: nothing else would bound their number. */
const MOST_EMPTY_ELEMENTS = 255;

/**
 * The elements of an encoded array, each with the type of all before it, as if it stood alone; their common descriptor is
 * left out.
 *
 * @throws RangeError or TypeError where it is none, or is cut off
 */
export function elementsOf(array: Buffer): Buffer[] {
  const code = unsignedAt(array, 0, 1);
  const width = code >> 4 === 0xe ? 1 : 4;
  const count = unsignedAt(array, 1 + width, width);
  const start = 1 + 2 * width;
  const first = start + startOfPlain(array.subarray(start)) + 1;
  const elementCode = unsignedAt(array, first - 1, 1);
  if (FIXED_WIDTHS[elementCode >> 4] === 0 && count > MOST_EMPTY_ELEMENTS) {
    throw new RangeError(`an AMQP array of ${count} elements that take no bytes`);
  }
  const elements: Buffer[] = [];
  for (let position = first; elements.length < count; ) {
    const end = position + widthOf(array, elementCode, position);
    if (end > array.length) throw new RangeError('an AMQP array is cut off');
    elements.push(Buffer.concat([array.subarray(first - 1, first), array.subarray(position, end)]));
    position = end;
  }
  return elements;
}

/** Whether a value is a list, a map or an array, described or not. */
export const isCompound = (value: Buffer): boolean => {
  const code = value[startOfPlain(value)] ?? NULL;
  return code === LIST0 || code >> 4 >= 0xc;
};

/** Whether a value is a map; a described one is not. */
export const isPlainMap = (value: Buffer): boolean => isMap(value[0] ?? NULL);
