import { readFile } from 'node:fs/promises';

/**
 * Reads `Values` of a `local.settings.json`: the app settings of this machine, strings as in an environment.
 *
 * @throws Error with one line when the file is missing, encrypted, no JSON, or a value is no string.
 */
export async function readLocalSettings(path: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}). Expected a local.settings.json.`);
  }
  let file: { IsEncrypted?: unknown; Values?: unknown };
  try {
    file = JSON.parse(text) as typeof file;
  } catch (error) {
    throw new Error(`${path} is no JSON: ${(error as Error).message}.`);
  }
  if (file.IsEncrypted === true) {
    throw new Error(`${path} is encrypted. What to do: run "func settings decrypt", then start again.`);
  }
  const values = file.Values ?? {};
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new Error(`${path}: Values must be an object of strings, got ${JSON.stringify(values)}.`);
  }
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string') {
      throw new Error(
        `${path}: Values.${name} must be a string, got ${JSON.stringify(value)}. Nested settings use "__" in the name.`,
      );
    }
  }
  return values as Record<string, string>;
}
