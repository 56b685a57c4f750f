import { Outage } from './outage.ts';
import type { Clock } from './ports.ts';
import { Solitude } from './solitude.ts';

/** What the deliveries of one process know of each other; made once, by the composition root. */
export interface ProcessWide {
  readonly ledgerOutage: Outage;
  readonly sendOutage: Outage;
  readonly solitude: Solitude;
}

/** For a process that has met no outage and no suspect yet. */
export const processWide = (clock: Clock): ProcessWide => ({
  ledgerOutage: new Outage(clock),
  sendOutage: new Outage(clock),
  solitude: new Solitude(clock),
});
