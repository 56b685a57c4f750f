import type { Stranded } from '../table-storage/sweep.ts';
import { ATTRIBUTE, type Measure } from './instruments.ts';

/** Counts what a sweep has found stranded. */
export function measureStranded(measure: Measure, stranded: readonly Pick<Stranded, 'consumer' | 'kind'>[]): void {
  for (const { consumer, kind } of stranded) {
    measure('stranded', 1, { [ATTRIBUTE.consumer]: consumer, [ATTRIBUTE.record]: kind });
  }
}
