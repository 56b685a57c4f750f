import type { Faults } from '../faults/faults.ts';
import type { Namespace } from '../model/namespace.ts';
import type { Dispatchers } from './dispatchers.ts';

/** What the links of a connection share with those of all others. */
export type LinkServices = {
  readonly namespace: Namespace;
  readonly dispatchers: Dispatchers;
  readonly faults: Faults;
  newMessageId(): string;
};
