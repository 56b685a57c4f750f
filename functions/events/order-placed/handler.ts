import { PermanentError } from '../../core/rules/errors.ts';
import type { Handler } from '../../core/rules/handler.ts';
import type { Payments } from './payments.ts';
import type { OrderPlaced } from './schema.ts';

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Charges a placed order at the payment provider. */
export const orderPlaced =
  ({ payments }: { payments: Payments }): Handler<OrderPlaced> =>
  async (order, { idempotencyKey, signal }) => {
    if (!CURRENCIES.has(order.currency)) {
      throw new PermanentError('UnsupportedCurrency', `order ${order.orderId} is in ${order.currency}`);
    }
    await payments.charge(order, { idempotencyKey, signal });
  };
