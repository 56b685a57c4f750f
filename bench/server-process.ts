import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Report, Usage } from './serve.ts';

/** A server in a process of its own. */
export type ServerProcess = {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
};

/** Starts one of the servers of this folder. */
export async function startServer(file: 'broker-server.ts' | 'bare-server.ts'): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, file), { execArgv: ['--expose-gc'] });
  const next = async (): Promise<Report> => {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}.`)));
    const [report] = await Promise.race([once(child, 'message'), ended]);
    return report;
  };
  const first = await next();
  if (first.kind !== 'listening') throw new Error(`${file} did not say its port.`);
  return {
    port: first.port,
    usage: async () => {
      const answer = next();
      child.send('usage');
      const report = await answer;
      if (report.kind !== 'usage') throw new Error(`${file} did not tell its usage.`);
      return report;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
