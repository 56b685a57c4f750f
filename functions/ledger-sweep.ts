import { sweepLedger } from './core/consumer.ts';

// Once an hour, off the full hour, when everyone else's timers fire.
sweepLedger({ name: 'ledger-sweep', schedule: '0 17 * * * *' });
