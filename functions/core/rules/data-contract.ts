/** Namespace of .NET's DataContractSerializer for the primitive types. */
const NAMESPACE = 'http://schemas.microsoft.com/2003/10/Serialization/';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the older .NET clients write before and after the name of the type, in .NET Binary XML ([MC-NBFX]). */
const SHORT_ELEMENT = 0x40;
const SHORT_XMLNS = 0x08;
const END_ELEMENT = 0x01;

/** Text records by their code without the end flag: how long their length field is, and what they hold. */
const TEXT_RECORDS: ReadonlyMap<number, { readonly lengthBytes: number; readonly isUtf16: boolean }> = new Map([
  [0x98, { lengthBytes: 1, isUtf16: false }],
  [0x9a, { lengthBytes: 2, isUtf16: false }],
  [0x9c, { lengthBytes: 4, isUtf16: false }],
  [0x9e, { lengthBytes: 1, isUtf16: false }],
  [0xa0, { lengthBytes: 2, isUtf16: false }],
  [0xa2, { lengthBytes: 4, isUtf16: false }],
  [0xa8, { lengthBytes: 0, isUtf16: false }],
  [0xb6, { lengthBytes: 1, isUtf16: true }],
  [0xb8, { lengthBytes: 2, isUtf16: true }],
  [0xba, { lengthBytes: 4, isUtf16: true }],
]);

const header = (type: string): Uint8Array =>
  Uint8Array.from([SHORT_ELEMENT, type.length, ...bytesOf(type), SHORT_XMLNS, NAMESPACE.length, ...bytesOf(NAMESPACE)]);

const HEADERS = [header('string'), header('base64Binary')];

/**
 * The content of a body that an older .NET client wrote as `new BrokeredMessage(text)` or `(bytes)`: a string as UTF-8,
 * bytes as they are. Undefined for anything else, a truncated envelope too.
 */
export function unwrapBinary(bytes: Uint8Array): Uint8Array | undefined {
  const found = HEADERS.find((start) => start.every((byte, index) => bytes[index] === byte));
  if (!found) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  let at = found.length;
  while (at < bytes.length) {
    const code = view.getUint8(at++);
    if (code === END_ELEMENT) return at === bytes.length ? Buffer.concat(parts) : undefined;
    const record = TEXT_RECORDS.get(code & ~1);
    if (!record || at + record.lengthBytes > bytes.length) return undefined;
    const length = lengthAt(view, at, record.lengthBytes);
    at += record.lengthBytes;
    const content = bytes.subarray(at, at + length);
    if (content.length < length) return undefined;
    at += length;
    parts.push(record.isUtf16 ? bytesOf(new TextDecoder('utf-16le').decode(content)) : content);
    // The lowest bit of a text record says that the element ends with it.
    if (code & 1) return at === bytes.length ? Buffer.concat(parts) : undefined;
  }
  return undefined;
}

function lengthAt(view: DataView, at: number, lengthBytes: number): number {
  if (lengthBytes === 1) return view.getUint8(at);
  if (lengthBytes === 2) return view.getUint16(at, true);
  return lengthBytes === 4 ? view.getUint32(at, true) : 0;
}

const XML = new RegExp(
  `^\\s*(?:<\\?xml[^>]*\\?>\\s*)?<(string|base64Binary)\\s+xmlns="${NAMESPACE}"\\s*(?:/>|>([^<]*)</\\1\\s*>)\\s*$`,
);
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi;
const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" } as const;

/** As `unwrapBinary`, of the same envelope in text XML; undefined where base64 holds no UTF-8. */
export function unwrapXml(text: string): string | undefined {
  const [, type, content = ''] = XML.exec(text) ?? [];
  if (type === undefined) return undefined;
  if (type === 'string') return content.replace(ENTITY, character);
  try {
    return utf8.decode(Buffer.from(content, 'base64'));
  } catch {
    return undefined;
  }
}

function character(entity: string, hex: string | undefined, decimal: string | undefined, name: string | undefined) {
  if (name !== undefined) return NAMED[name.toLowerCase() as keyof typeof NAMED];
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
}
