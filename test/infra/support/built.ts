import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STAGES } from '../../../infra/checks/sources.ts';

/** The folder of this project. */
export const project = join(import.meta.dirname, '..', '..', '..');

export interface Resource {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly sku?: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a resource is its provider's
  readonly properties: any;
  readonly [field: string]: unknown;
}

export interface Snapshot {
  readonly stage: string;
  readonly text: string;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly resources: readonly Resource[];
}

export const readText = (file: string): string => readFileSync(join(project, file), 'utf8');

/** A snapshot's resources, flattened over all modules. */
export function snapshotFrom(stage: string, text: string): Snapshot {
  const { predictedResources, outputs } = JSON.parse(text);
  return { stage, text, outputs, resources: predictedResources };
}

/** What is committed, for each stage. */
export const snapshots: readonly Snapshot[] = STAGES.map((stage) =>
  snapshotFrom(stage, readText(`infra/snapshots/${stage}.json`)),
);

export const ofType = ({ resources }: Snapshot, type: string): Resource[] =>
  resources.filter((resource) => resource.type === type);

/** The only resource of a type. */
export function theOnly(snapshot: Snapshot, type: string): Resource {
  const found = ofType(snapshot, type);
  if (found.length !== 1) throw new Error(`${snapshot.stage} has ${found.length} of ${type}, expected one`);
  return found[0] as Resource;
}
