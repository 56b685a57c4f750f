import type { EntityKeys } from './keys.ts';
import { isOvertaken } from './store-error.ts';
import type { TableStore } from './table-store.ts';

/** What one transaction can hold. */
export const BATCH_SIZE = 100;

/** An entity as it was read. */
export interface Version {
  readonly keys: EntityKeys;
  readonly etag: string;
}

/**
 * Deletes entities of one partition, at most {@link BATCH_SIZE}, each only where it is still as it was read; one
 * transaction, or where that is refused because some have changed, one by one.
 *
 * @returns how many were deleted
 */
export async function deleteBatch(store: TableStore, versions: readonly Version[]): Promise<number> {
  const actions = versions.map(({ keys }): ['delete', EntityKeys & Record<string, string>] => ['delete', { ...keys }]);
  const etags = new Map(versions.map(({ keys, etag }) => [keys.rowKey, etag]));
  const policy = fencingPolicy(etags);
  store.table.pipeline.addPolicy(policy);
  try {
    await store.operate('delete a batch', (options) => store.table.submitTransaction(actions, options));
    return versions.length;
  } catch (error) {
    if (!isOvertaken((error as Error).cause)) throw error;
  } finally {
    store.table.pipeline.removePolicy({ name: policy.name });
  }
  let deleted = 0;
  for (const { keys, etag } of versions) {
    if (await store.remove(keys, etag)) deleted++;
  }
  return deleted;
}

type Policy = Parameters<TableStore['table']['pipeline']['addPolicy']>[0];

let policies = 0;

/**
 * The SDK's transactions (13.3) delete whatever version there is: they write `if-match: *` and take no ETag. This puts
 * the ETags in before the request leaves; without it a record that came back to life meanwhile would be deleted.
 */
function fencingPolicy(etags: ReadonlyMap<string, string>): Policy {
  const [anyRowKey] = etags.keys();
  return {
    name: `deleteByVersion${++policies}`,
    sendRequest(request, next) {
      const { body } = request;
      // Other requests of the client pass here as well, and other batches have a policy of their own.
      if (typeof body !== 'string' || !anyRowKey || !body.includes(`RowKey='${anyRowKey}'`)) return next(request);
      let fenced = 0;
      request.body = body.replace(/(RowKey='([^']+)'.*?if-match: )\*/gis, (_, upToStar: string, rowKey: string) => {
        fenced++;
        return `${upToStar}${etags.get(rowKey)}`;
      });
      // Measured before this policy ran.
      request.headers.set('content-length', String(Buffer.byteLength(request.body)));
      if (fenced !== etags.size) throw new Error(`the SDK writes batches otherwise: ${fenced} of ${etags.size} fenced`);
      return next(request);
    },
  };
}
