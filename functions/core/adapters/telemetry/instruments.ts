import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';
import { REASONS } from '../../rules/dead-letter.ts';
import { fewValues } from './few-values.ts';

/**
 * Attributes of metrics. Each has few values: those of a table here, those that the code of an app writes, or a number
 * below a bound of the policy. What names one message is for spans and logs.
 */
export const ATTRIBUTE = {
  /** Queue and event. */
  consumer: 'redelivery.consumer',
  outcome: 'redelivery.outcome',
  /** The attempt that a copy carries; at most one more than the policy permits. */
  attempt: 'redelivery.attempt',
  /** Why a delivery was put off: `busy elsewhere` or `ledger down`. */
  cause: 'redelivery.cause',
  /** Reason code of a dead letter. */
  reason: 'redelivery.reason',
  /** `claim` or `record`. */
  operation: 'redelivery.ledger.operation',
  /** What the ledger answered, or the code of its error. */
  result: 'redelivery.ledger.result',
  /** Kind of a record. */
  record: 'redelivery.ledger.record',
  system: 'messaging.system.name',
  operationName: 'messaging.operation.name',
  destination: 'messaging.destination.name',
  disposition: 'azure.servicebus.disposition_status',
  /** Absent where nothing failed. */
  errorType: 'error.type',
} as const;

const { consumer, outcome, attempt, cause, reason, operation, result, record } = ATTRIBUTE;
const { system, operationName, destination, disposition, errorType } = ATTRIBUTE;

/** Seconds; the conventions' own for what takes a call, wider for what waits for a copy or for a whole event. */
const OF_A_CALL = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300];
const OF_A_WAIT = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'histogram';
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly string[];
  readonly boundaries?: readonly number[];
}

/** Every metric that the consumer writes. Alerts, workbook, documents and tests go by this table. */
export const METRICS = {
  deliveries: {
    name: 'redelivery.deliveries',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries by what became of them.',
    attributes: [consumer, outcome],
  },
  attempts: {
    name: 'redelivery.attempts',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Deliveries that ran the handler.',
    attributes: [consumer],
  },
  tries: {
    name: 'redelivery.tries',
    kind: 'counter',
    unit: '{try}',
    description: 'Calls of the handler.',
    attributes: [consumer],
  },
  redeliveries: {
    name: 'redelivery.redeliveries',
    kind: 'counter',
    unit: '{message}',
    description: 'Delayed copies by the attempt that they carry.',
    attributes: [consumer, attempt],
  },
  deferrals: {
    name: 'redelivery.deferrals',
    kind: 'counter',
    unit: '{message}',
    description: 'Copies that use no attempt, by cause.',
    attributes: [consumer, cause],
  },
  deadLetters: {
    name: 'redelivery.dead_letters',
    kind: 'counter',
    unit: '{message}',
    description: 'Dead letters by reason code.',
    attributes: [consumer, reason],
  },
  duplicates: {
    name: 'redelivery.duplicates',
    kind: 'counter',
    unit: '{delivery}',
    description:
      'Deliveries that the ledger ended without a run: `duplicate` of a success, or `stale`, overtaken by a later attempt or a dead letter.',
    attributes: [consumer, outcome],
  },
  takeovers: {
    name: 'redelivery.takeovers',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries that went on where a run had ended without an outcome: its process crashed or was ended.',
    attributes: [consumer],
  },
  locksLost: {
    name: 'redelivery.locks_lost',
    kind: 'counter',
    unit: '{delivery}',
    description: 'Deliveries whose lock was gone before they were settled.',
    attributes: [consumer],
  },
  settlementFailures: {
    name: 'redelivery.settlement.failures',
    kind: 'counter',
    unit: '{operation}',
    description: 'Settlements that failed.',
    attributes: [consumer, disposition, errorType],
  },
  plannedDelay: {
    name: 'redelivery.delay.planned',
    kind: 'histogram',
    unit: 's',
    description: 'From the failure to the time a copy is due; of copies that have come.',
    attributes: [consumer],
    boundaries: OF_A_WAIT,
  },
  actualDelay: {
    name: 'redelivery.delay.actual',
    kind: 'histogram',
    unit: 's',
    description: 'From the failure to the time a copy has come.',
    attributes: [consumer],
    boundaries: OF_A_WAIT,
  },
  eventDuration: {
    name: 'redelivery.event.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From the first enqueue of an event to its success or its dead letter.',
    attributes: [consumer, outcome],
    boundaries: OF_A_WAIT,
  },
  handlerDuration: {
    name: 'redelivery.handler.duration',
    kind: 'histogram',
    unit: 's',
    description: 'One call of the handler.',
    attributes: [consumer],
    boundaries: OF_A_CALL,
  },
  ledgerDuration: {
    name: 'redelivery.ledger.operation.duration',
    kind: 'histogram',
    unit: 's',
    description: 'One question to the ledger; its count is that of the operations.',
    attributes: [consumer, operation, result],
    boundaries: OF_A_CALL,
  },
  stranded: {
    name: 'redelivery.ledger.stranded',
    kind: 'counter',
    unit: '{event}',
    description: 'Events that should have gone on and have not, counted at each sweep that meets them.',
    attributes: [consumer, record],
  },
  processDuration: {
    name: 'messaging.process.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Processing of one delivery.',
    attributes: [system, operationName, destination, errorType],
    boundaries: OF_A_CALL,
  },
  consumed: {
    name: 'messaging.client.consumed.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages delivered to the consumer.',
    attributes: [system, operationName, destination],
  },
  sent: {
    name: 'messaging.client.sent.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Copies that the consumer tried to send.',
    attributes: [system, operationName, destination, errorType],
  },
} as const satisfies Record<string, Metric>;

type MetricKey = keyof typeof METRICS;

/** Adds to a counter or records in a histogram, with exactly the attributes that the table gives the metric. */
export type Measure = <Key extends MetricKey>(
  metric: Key,
  value: number,
  attributes: Readonly<Record<(typeof METRICS)[Key]['attributes'][number], string | number | undefined>>,
) => void;

/** Attributes whose values the code of an app writes; all others have those of a table. */
const OF_THE_APP = [reason, errorType] as const;

/** Makes the instruments of the table. */
export function measureWith(meter: Meter): Measure {
  const known = [...Object.keys(REASONS), 'MessageLockLost'];
  const bounds = OF_THE_APP.map((name) => [name, fewValues(known)] as const);
  const instruments = new Map<string, Counter | Histogram>();
  for (const [key, { name, kind, ...metric }] of Object.entries<Metric>(METRICS)) {
    const { unit, description, boundaries } = metric;
    const advice = boundaries && { explicitBucketBoundaries: [...boundaries] };
    instruments.set(
      key,
      kind === 'counter'
        ? meter.createCounter(name, { unit, description })
        : meter.createHistogram(name, { unit, description, ...(advice && { advice }) }),
    );
  }
  return (metric, value, attributes) => {
    let present = withoutUndefined(attributes);
    for (const [name, bounded] of bounds) {
      const value = present[name];
      if (typeof value === 'string') present = { ...present, [name]: bounded(value) };
    }
    const instrument = instruments.get(metric);
    if (instrument && 'add' in instrument) instrument.add(value, present);
    else instrument?.record(value, present);
  };
}

/** The SDK would make a series of its own of what is undefined. Mostly nothing is, and then nothing is copied. */
function withoutUndefined(attributes: Attributes): Attributes {
  for (const name in attributes) {
    if (attributes[name] === undefined) {
      const { [name]: _, ...rest } = attributes;
      return withoutUndefined(rest);
    }
  }
  return attributes;
}
