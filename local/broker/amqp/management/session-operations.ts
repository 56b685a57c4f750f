import rhea from 'rhea';
import type { SessionHold, SessionTable } from '../../model/session-table.ts';
import { sessionLockLost } from '../conditions.ts';
import type { Reply } from './reply.ts';
import type { ManagementRequest } from './request.ts';

const { types } = rhea;
const STRING = 0xb1;
/** From here on a client means "any time": .NET's largest date. The service then lists sessions that have messages. */
const ANY_TIME_UTC = Date.UTC(9999, 11, 31);

export function renewSessionLock(_request: ManagementRequest, sessions: SessionTable, hold: SessionHold): Reply {
  const result = sessions.renew(hold);
  if (result.kind === 'lockLost') return { kind: 'failed', status: 410, error: sessionLockLost };
  return { kind: 'done', body: { expiration: types.wrap_timestamp(result.lockedUntilUtc) } };
}

export function getSessionState(_request: ManagementRequest, sessions: SessionTable, hold: SessionHold): Reply {
  const state = sessions.stateOf(hold);
  return { kind: 'done', body: { 'session-state': state === undefined ? null : Buffer.from(state) } };
}

export function setSessionState(request: ManagementRequest, sessions: SessionTable, hold: SessionHold): Reply {
  const state = request.binary('session-state');
  const isSet = sessions.setState(hold, state === undefined ? undefined : Buffer.from(state));
  return isSet ? { kind: 'done' } : { kind: 'failed', status: 410, error: sessionLockLost };
}

export function getMessageSessions(request: ManagementRequest, sessions: SessionTable): Reply {
  const sinceUtc = request.instant('last-updated-time');
  const skip = request.integer('skip');
  const all = sessions.ids(sinceUtc >= ANY_TIME_UTC ? Number.POSITIVE_INFINITY : sinceUtc);
  const ids = all.slice(skip, skip + request.integer('top'));
  if (ids.length === 0) return { kind: 'empty' };
  const body = { skip: types.wrap_int(skip + ids.length), 'sessions-ids': types.wrap_array(ids, STRING, undefined) };
  return { kind: 'done', body };
}
