import { z } from 'zod';

/** An order to charge, in the currency's main unit. */
export const orderPlacedSchema = z.object({
  orderId: z.string().min(1).max(100),
  amount: z.number().positive().max(1_000_000),
  currency: z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters, as in ISO 4217'),
});

/** An order as the handler gets it. */
export type OrderPlaced = z.infer<typeof orderPlacedSchema>;
