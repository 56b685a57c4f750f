/** What a server tells of itself when asked, by now. */
export type Usage = {
  /** Processor time since its start, in milliseconds. */
  readonly cpuInMs: number;
  /** Memory that is reachable after a collection, heap and buffers, in bytes. */
  readonly memoryInBytes: number;
};

/** What a server process says: first its port, then a usage for each time that it is asked. */
export type Report = { readonly kind: 'listening'; readonly port: number } | ({ readonly kind: 'usage' } & Usage);

/** Tells the parent process the port, then answers each of its messages with a usage; ends with the parent. */
export function serve(port: number): void {
  const report = (what: Report) => process.send?.(what);
  process.on('message', () => report({ kind: 'usage', ...usage() }));
  process.once('disconnect', () => process.exit());
  report({ kind: 'listening', port });
}

function usage(): Usage {
  // What the first collection finalises, the second frees.
  for (let round = 0; round < 2; round++) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  return { cpuInMs: (user + system) / 1000, memoryInBytes: heapUsed + external };
}
