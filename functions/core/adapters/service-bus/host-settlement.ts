import type { Settlement } from '../../pipeline/ports.ts';
import type { PropertyValue } from '../../rules/delivery.ts';
import { encodeMap, encodeProperty, encodeString } from './amqp-encode.ts';
import type { SettlementService } from './settlement-service.ts';

/** {@link Settlement} through the Functions host, which holds the lock: on a session queue that of the session. */
export const hostSettlement = (service: SettlementService, { sessions = false } = {}): Settlement => ({
  complete: ({ lockToken }) => service.call('Complete', { locktoken: lockToken }),
  abandon: ({ lockToken }) => service.call('Abandon', { locktoken: lockToken }),
  deadLetter: async ({ lockToken }, { reason, description, properties }) =>
    service.call('Deadletter', {
      locktoken: lockToken,
      propertiesToModify: encodeProperties(properties),
      deadletterReason: { value: reason },
      deadletterErrorDescription: { value: description },
    }),
  renewLock: ({ lockToken, sessionId }) =>
    sessions
      ? service.call('RenewSessionLock', { sessionId })
      : service.call('RenewMessageLock', { locktoken: lockToken }),
});

const encodeProperties = (properties: ReadonlyMap<string, PropertyValue>): Buffer =>
  properties.size === 0
    ? Buffer.alloc(0)
    : Buffer.concat(encodeMap([...properties].flatMap(([name, value]) => [encodeString(name), encodeProperty(value)])));
