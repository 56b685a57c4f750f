import type { Settings } from './setting-reference.ts';

const PREFIX = 'azurefunctionsjobhost__';

/**
 * host.json with what the app settings put over it: `AzureFunctionsJobHost__extensions__serviceBus__prefetchCount=4`
 * sets that one value, as on the real host. Settings are text, so `true`, `false` and numbers are read as such.
 */
export function withOverrides(hostJson: unknown, settings: Settings): unknown {
  let result = hostJson;
  for (const [name, value] of Object.entries(settings)) {
    if (!name.toLowerCase().startsWith(PREFIX)) continue;
    result = withValue(result, name.slice(PREFIX.length).split('__'), literal(value));
  }
  return result;
}

function withValue(target: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const fields = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  // Upper and lower case do not matter on the real host, so an existing key is the one that is meant.
  const existing = Object.keys(fields).find((candidate) => candidate.toLowerCase() === key.toLowerCase()) ?? key;
  return { ...fields, [existing]: withValue(fields[existing], rest, value) };
}

function literal(text: string): unknown {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}
