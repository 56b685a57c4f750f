import { z } from 'zod';
import { HttpStatusError } from '../../core/rules/errors.ts';
import type { OrderPlaced } from './schema.ts';

/** The provider that charges orders. */
export interface Payments {
  /**
   * Charges the order once for each idempotency key: a repeat with the same key is answered, not charged again.
   *
   * @throws HttpStatusError where the provider refuses, or a connection error
   */
  charge(order: OrderPlaced, call: { readonly idempotencyKey: string; readonly signal: AbortSignal }): Promise<void>;
}

/** The settings that name the provider. */
export const paymentsSettings = z.object({
  /** Base address of the provider. */
  PAYMENTS_URL: z.url({ protocol: /^https?$/, error: 'expected an http or https address' }),
});

/** {@link Payments} over HTTP: `POST /charges` with an `Idempotency-Key`. */
export const paymentsOverHttp = (baseUrl: string): Payments => ({
  async charge(order, { idempotencyKey, signal }) {
    const response = await fetch(new URL('/charges', baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(order),
      signal,
    });
    // Read to the end, so that the connection can be used again.
    await response.arrayBuffer();
    if (!response.ok) {
      throw new HttpStatusError(response.status, `the payment provider answered ${response.status}`, {
        retryAfter: response.headers.get('retry-after'),
      });
    }
  },
});
