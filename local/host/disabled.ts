import type { Settings } from './setting-reference.ts';

/**
 * Whether the settings disable the function: `AzureWebJobs.<name>.Disabled`, or with `__` for the dots where a name of a
 * variable may hold none. `true` and `1` do; upper and lower case do not matter.
 */
export function isDisabled(functionName: string, settings: Settings): boolean {
  const names = ['.', '__'].map((dot) => ['AzureWebJobs', functionName, 'Disabled'].join(dot).toLowerCase());
  return Object.entries(settings).some(
    ([name, value]) => names.includes(name.toLowerCase()) && /^(?:true|1)$/i.test(value),
  );
}
