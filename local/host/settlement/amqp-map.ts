import rhea from 'rhea';

/** rhea's own reader; its published types leave it out. */
const { Reader } = rhea.types as unknown as { Reader: new (bytes: Buffer) => { read(): unknown } };

/**
 * Reads one AMQP-encoded map. The values keep their AMQP types, so that what the app wrote as a long arrives as a long.
 * No bytes at all are no map.
 *
 * @throws Error when the bytes are anything else.
 */
export function decodeAmqpMap(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (bytes.length === 0) return undefined;
  const map = new Reader(Buffer.from(bytes)).read() as {
    type?: { name?: string };
    value: { value: unknown }[];
  };
  if (!/^Map(8|32)$/.test(map.type?.name ?? '')) {
    throw new Error(`propertiesToModify must be an AMQP map, got ${map.type?.name ?? 'something else'}.`);
  }
  const entries: [string, unknown][] = [];
  for (let index = 0; index + 1 < map.value.length; index += 2) {
    entries.push([String(map.value[index]?.value), map.value[index + 1]]);
  }
  return Object.fromEntries(entries);
}
