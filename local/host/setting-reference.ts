export type Settings = Readonly<Record<string, string>>;

/**
 * Replaces each `%NAME%` by the setting of that name.
 *
 * @throws Error with one line when a setting is missing; `where` names what refers to it.
 */
export function resolveReferences(text: string, settings: Settings, where: string): string {
  return text.replace(/%([^%]+)%/g, (_, name: string) => {
    const value = settingOf(settings, name);
    if (value === undefined) {
      throw new Error(
        `${where} refers to %${name}%, but there is no setting ${name}. What to do: add it to the app settings.`,
      );
    }
    return value;
  });
}

/** Where a trigger's broker is: a whole connection string, or a namespace that is reached with a token. */
export type Connection =
  | { readonly kind: 'connectionString'; readonly connectionString: string }
  | { readonly kind: 'namespace'; readonly fullyQualifiedNamespace: string };

/**
 * What the `connection` of a trigger stands for: the setting of that name (or with the prefix `AzureWebJobs`) when it
 * holds a connection string, else `<name>__fullyQualifiedNamespace`.
 *
 * @throws Error with one line when neither is there.
 */
export function resolveConnection(name: string, settings: Settings, where: string): Connection {
  const connectionString = settingOf(settings, `AzureWebJobs${name}`) ?? settingOf(settings, name);
  if (connectionString) return { kind: 'connectionString', connectionString };
  const fullyQualifiedNamespace =
    settingOf(settings, `${name}__fullyQualifiedNamespace`) ?? settingOf(settings, `${name}:fullyQualifiedNamespace`);
  if (fullyQualifiedNamespace) return { kind: 'namespace', fullyQualifiedNamespace };
  throw new Error(
    `${where} uses the connection "${name}", but there is no setting ${name} and no ${name}__fullyQualifiedNamespace. What to do: add one of them to the app settings.`,
  );
}

/** Names of settings do not depend on upper and lower case on the real host. */
function settingOf(settings: Settings, name: string): string | undefined {
  if (settings[name] !== undefined) return settings[name];
  const key = Object.keys(settings).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : settings[key];
}
