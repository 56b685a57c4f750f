// A process of its own: loads a bundle as the worker does, then prints from which packages and files some code has run.
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import { App } from '../../../local/host/worker/app.ts';
import { installCoreModule } from '../../../local/host/worker/core-module.ts';

const bundle = process.argv[2] as string;
installCoreModule(new App(), '4.0.0');
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true });
await import(pathToFileURL(bundle).href);
const { result } = await session.post('Profiler.takePreciseCoverage');

const lineStarts = [0];
for (const line of readFileSync(bundle, 'utf8').split('\n'))
  lineStarts.push((lineStarts.at(-1) ?? 0) + line.length + 1);
const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
const functions = result.filter(({ url }) => url === pathToFileURL(bundle).href).flatMap((script) => script.functions);
const sources = new Set<string>();
// The first of all is the bundle itself.
for (const { ranges } of functions.slice(1)) {
  const { count, startOffset } = ranges[0] ?? { count: 0, startOffset: 0 };
  if (count === 0) continue;
  const line = lineStarts.findLastIndex((start) => start <= startOffset);
  const entry = map.findEntry(line, startOffset - (lineStarts[line] ?? 0));
  const source = 'originalSource' in entry ? entry.originalSource : '';
  sources.add(/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source);
}
console.log(JSON.stringify([...sources]));
process.exit(0);
