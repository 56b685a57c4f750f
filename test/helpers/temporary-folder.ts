import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new, empty folder under the system's folder for temporary files. */
export const aTemporaryFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `${name}-`));

/** Removes a folder with all that is in it. */
export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
