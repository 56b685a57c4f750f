import { consume } from './core/consumer.ts';
import { orderPlaced } from './events/order-placed/handler.ts';
import { paymentsOverHttp, paymentsSettings } from './events/order-placed/payments.ts';
import { orderPlacedPolicy } from './events/order-placed/policy.ts';
import { orderPlacedSchema } from './events/order-placed/schema.ts';

consume({
  queue: 'billing-order-placed',
  event: {
    name: 'order-placed',
    schema: orderPlacedSchema,
    settings: paymentsSettings,
    handler: ({ PAYMENTS_URL }) => orderPlaced({ payments: paymentsOverHttp(PAYMENTS_URL) }),
  },
  policy: orderPlacedPolicy,
});
