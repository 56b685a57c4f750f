import type { Line } from './stage.ts';

/** A line of an input file: an order that can be charged, and what the provider answers. */
export const anOrder = (messageId: string, provider: readonly unknown[] = [200]): Line => ({
  messageId,
  body: { orderId: `order-${messageId}`, amount: 25, currency: 'EUR' },
  contentType: 'application/json',
  provider,
});

/** A policy by which outcomes come soon: three attempts, delays 1 and 2 s, no chance. */
export const FAST_POLICY = {
  RETRY__ORDER_PLACED__ATTEMPTS: '3',
  RETRY__ORDER_PLACED__TRIES: '1',
  RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '1000',
  RETRY__ORDER_PLACED__MULTIPLIER: '2',
  RETRY__ORDER_PLACED__JITTER: 'none',
  RETRY__ORDER_PLACED__HANDLER_TIMEOUT_IN_MS: '3000',
} as const;

/** The text with its instants made the same in every run. */
export const withoutInstants = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<instant>');
