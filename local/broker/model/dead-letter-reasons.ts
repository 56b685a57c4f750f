/** Why the broker itself dead-letters: the service's reason and description, word for word. */
export type DeadLetterCause = { readonly reason: string; readonly description: string };

export function maxDeliveryCountExceeded(maxDeliveryCount: number): DeadLetterCause {
  return {
    reason: 'MaxDeliveryCountExceeded',
    description: `Message could not be consumed after ${maxDeliveryCount} delivery attempts.`,
  };
}

export const timeToLiveExpired: DeadLetterCause = {
  reason: 'TTLExpiredException',
  description: 'The message expired and was dead lettered.',
};

export const sessionIdIsNull: DeadLetterCause = {
  reason: 'Session ID is null.',
  description: "Session enabled entity doesn't allow a message whose session identifier is null.",
};

/** A receiver may dead-letter without saying why. */
export type PartialCause = { readonly [Part in keyof DeadLetterCause]?: DeadLetterCause[Part] | undefined };

/** The properties by which a dead letter says why it is one. */
export function causeProperties({ reason, description }: PartialCause): Map<string, string> {
  const properties = new Map<string, string>();
  if (reason !== undefined) properties.set('DeadLetterReason', reason);
  if (description !== undefined) properties.set('DeadLetterErrorDescription', description);
  return properties;
}
