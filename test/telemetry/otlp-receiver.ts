import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromJSON } from '@grpc/proto-loader';

const field = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });
const method = (requestType: string) => ({ requestType, responseType: 'Done', comment: '' });

/** What of the protocol's messages is looked at, as its definition numbers the fields. */
const DESCRIPTOR = {
  nested: {
    Done: { fields: {} },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue'] } },
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
      },
    },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    NumberDataPoint: {
      oneofs: { value: { oneof: ['asDouble', 'asInt'] } },
      fields: { asDouble: field('double', 4), asInt: field('sfixed64', 6), attributes: many('KeyValue', 7) },
    },
    HistogramDataPoint: {
      fields: { count: field('fixed64', 4), sum: field('double', 5), attributes: many('KeyValue', 9) },
    },
    Sum: { fields: { dataPoints: many('NumberDataPoint', 1) } },
    Histogram: { fields: { dataPoints: many('HistogramDataPoint', 1) } },
    Metric: {
      fields: {
        name: field('string', 1),
        unit: field('string', 3),
        sum: field('Sum', 7),
        histogram: field('Histogram', 9),
      },
    },
    ScopeMetrics: { fields: { metrics: many('Metric', 2) } },
    ResourceMetrics: { fields: { scopeMetrics: many('ScopeMetrics', 2) } },
    MetricsRequest: { fields: { resourceMetrics: many('ResourceMetrics', 1) } },
    Link: { fields: { traceId: field('bytes', 1), spanId: field('bytes', 2) } },
    Span: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        parentSpanId: field('bytes', 4),
        name: field('string', 5),
        attributes: many('KeyValue', 9),
        links: many('Link', 13),
      },
    },
    ScopeSpans: { fields: { spans: many('Span', 2) } },
    ResourceSpans: { fields: { scopeSpans: many('ScopeSpans', 2) } },
    TraceRequest: { fields: { resourceSpans: many('ResourceSpans', 1) } },
    LogRecord: { fields: { body: field('AnyValue', 5), traceId: field('bytes', 9) } },
    ScopeLogs: { fields: { logRecords: many('LogRecord', 2) } },
    ResourceLogs: { fields: { scopeLogs: many('ScopeLogs', 2) } },
    LogsRequest: { fields: { resourceLogs: many('ResourceLogs', 1) } },
    Collector: {
      methods: { metrics: method('MetricsRequest'), traces: method('TraceRequest'), logs: method('LogsRequest') },
    },
  },
};

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

/** One value of a metric: what a counter has counted, or the count of a histogram and its sum. */
export interface ReceivedPoint {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly sum: number | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What receives OTLP over HTTP, as protobuf, and keeps it. */
export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** Points of the last export: the exporter sums up from its start. */
  readonly points: readonly ReceivedPoint[];
  readonly spans: readonly ReceivedSpan[];
  readonly logs: readonly { readonly body: string; readonly traceId: string }[];
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the descriptor says
type Decoded = any;
type Decode = (bytes: Buffer) => Decoded;

/** Starts a receiver on a free port of this machine. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const methods = fromJSON(DESCRIPTOR, { longs: Number, arrays: true })['Collector'] as unknown as Record<
    string,
    { readonly requestDeserialize: Decode }
  >;
  const received = {
    points: [] as ReceivedPoint[],
    spans: [] as ReceivedSpan[],
    logs: [] as OtlpReceiver['logs'][number][],
  };
  const take: Readonly<Record<string, (request: Decoded) => void>> = {
    metrics: ({ resourceMetrics }) => {
      received.points = resourceMetrics.flatMap(({ scopeMetrics }: Decoded) =>
        scopeMetrics.flatMap(({ metrics }: Decoded) => metrics.flatMap(pointsOf)),
      );
    },
    traces: ({ resourceSpans }) => {
      for (const { scopeSpans } of resourceSpans) {
        for (const { spans } of scopeSpans) received.spans.push(...spans.map(spanOf));
      }
    },
    logs: ({ resourceLogs }) => {
      for (const { scopeLogs } of resourceLogs) {
        for (const { logRecords } of scopeLogs) received.logs.push(...logRecords.map(logOf));
      }
    },
  };
  const server = createServer(async (request, response) => {
    const signal = /^\/v1\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '';
    const body = Buffer.concat(await request.toArray());
    const decode = methods[signal]?.requestDeserialize;
    if (decode) take[signal]?.(decode(body));
    response.writeHead(decode ? 200 : 404, { 'content-type': 'application/x-protobuf', connection: 'close' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get points() {
      return received.points;
    },
    spans: received.spans,
    logs: received.logs,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const attributesOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

function pointsOf({ name, unit, sum, histogram }: Decoded): ReceivedPoint[] {
  return (sum ?? histogram).dataPoints.map((point: Decoded) => ({
    name,
    unit,
    value: point.asDouble ?? point.asInt ?? point.count,
    sum: point.sum,
    attributes: attributesOf(point.attributes),
  }));
}

const spanOf = ({ name, traceId, spanId, parentSpanId, attributes }: Decoded): ReceivedSpan => ({
  name,
  traceId: hex(traceId),
  spanId: hex(spanId),
  parentSpanId: hex(parentSpanId),
  attributes: attributesOf(attributes),
});

const logOf = ({ body, traceId }: Decoded) => ({ body: String(body?.stringValue), traceId: hex(traceId) });
