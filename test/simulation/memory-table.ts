import type { EntityKeys } from '../../functions/core/adapters/table-storage/keys.ts';
import type { Columns, Found } from '../../functions/core/adapters/table-storage/table-store.ts';

interface Row {
  readonly columns: Columns;
  readonly etag: string;
}

/** Sees every write that was carried out. */
export type WriteListener = (columns: Columns, etag: string) => void;

/** A table with Table Storage's semantics: an insert fails where there is a row, a replace where the version moved on. */
export class MemoryTable {
  readonly rows = new Map<string, Row>();
  readonly #onWrite: WriteListener;
  #writes = 0;

  constructor(onWrite: WriteListener) {
    this.#onWrite = onWrite;
  }

  get(keys: EntityKeys): Found | undefined {
    return this.rows.get(keys.rowKey);
  }

  insert(keys: EntityKeys, columns: Columns): string | undefined {
    return this.rows.has(keys.rowKey) ? undefined : this.#write(keys, columns);
  }

  replace(keys: EntityKeys, columns: Columns, etag: string): string | undefined {
    return this.rows.get(keys.rowKey)?.etag === etag ? this.#write(keys, columns) : undefined;
  }

  #write(keys: EntityKeys, columns: Columns): string {
    const etag = `v${++this.#writes}`;
    this.rows.set(keys.rowKey, { columns, etag });
    this.#onWrite(columns, etag);
    return etag;
  }
}
