import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { aTemporaryFolder } from '../../helpers/temporary-folder.ts';

type Json = Record<string, unknown>;

/** What differs from the files of this project; each is told what stands there. */
export interface Changes {
  readonly 'package.json'?: (file: Json) => void;
  readonly 'host.json'?: (file: { extensions: { serviceBus: Json } }) => void;
  readonly 'local/entities.json'?: (file: {
    UserConfig: { Namespaces: [{ Queues: [QueueEntry]; Topics: [TopicEntry] }] };
  }) => void;
}

interface QueueEntry {
  Name: string;
  readonly Properties: Json;
}

interface TopicEntry {
  readonly Name: string;
  readonly Subscriptions: [QueueEntry, ...QueueEntry[]];
}

/** A copy of the built app with files of its own, in a new folder that the caller removes. */
export async function anApp(changes: Changes): Promise<string> {
  const app = await aTemporaryFolder('app');
  await cp(inject('builtApp'), app, { recursive: true });
  for (const [name, change] of Object.entries(changes)) {
    const file = join(app, name);
    const content = JSON.parse(await readFile(file, 'utf8'));
    change(content);
    await writeFile(file, JSON.stringify(content));
  }
  return app;
}
