/** Settings as the platform gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;
