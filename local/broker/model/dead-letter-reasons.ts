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
