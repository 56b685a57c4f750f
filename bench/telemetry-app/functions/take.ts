import { z } from 'zod';
import { consume } from '../../../functions/core/consumer.ts';

// A handler that has nothing to do: what telemetry costs beside one that works is less than what is measured here.
consume({
  queue: 'bench',
  event: { name: 'take', schema: z.object({}), settings: z.object({}), handler: () => async () => undefined },
  policy: {},
});
