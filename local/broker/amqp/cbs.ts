import rhea from 'rhea';
import type { ManagementRequest } from './management/request.ts';

const { types } = rhea;

/** Answers a request on `$cbs`. Every token is good: this broker guards nothing. */
export function cbsReply(request: ManagementRequest): object {
  const isPutToken = request.operation === 'put-token';
  return {
    correlation_id: request.id,
    application_properties: {
      'status-code': types.wrap_int(isPutToken ? 200 : 501),
      'status-description': isPutToken ? 'OK' : `The operation '${request.operation}' is not supported on $cbs.`,
    },
    body: null,
  };
}
