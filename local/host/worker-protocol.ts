import type { LogEntry } from './log-entry.ts';

/** Bytes of a service's own SDK type, decoded by a factory the app registered for `source`. */
export interface ModelBindingData {
  readonly version: string;
  readonly source: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** A value on its way to or from the worker; exactly one field is set, as in the real host's protocol. */
export interface TypedData {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly int?: number;
  readonly double?: number;
  readonly http?: HttpData;
  readonly collectionString?: { readonly string: readonly string[] };
  readonly collectionBytes?: { readonly bytes: readonly Uint8Array[] };
  readonly modelBindingData?: ModelBindingData;
  readonly collectionModelBindingData?: { readonly modelBindingData: readonly ModelBindingData[] };
}

/** An HTTP request on its way in, or a response on its way out. */
export interface HttpData {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: TypedData | null;
  readonly statusCode?: string;
  readonly cookies?: readonly unknown[];
}

export interface InvocationRequest {
  readonly invocationId: string;
  readonly functionId: string;
  readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
  readonly triggerMetadata: Readonly<Record<string, TypedData>>;
  readonly traceContext: { readonly traceParent: string; readonly traceState: string };
  readonly retryContext: null;
}

export interface InvocationResponse {
  readonly invocationId: string;
  readonly returnValue?: TypedData | null;
  readonly outputData?: readonly { readonly name: string; readonly data: TypedData }[];
}

/** One binding as the app declared it; the trigger's own options stand beside `type`. */
export interface Binding {
  readonly type: string;
  readonly direction?: string;
  readonly properties?: { readonly supportsDeferredBinding?: string };
  readonly [option: string]: unknown;
}

export interface FunctionMetadata {
  readonly functionId: string;
  readonly name: string;
  readonly bindings: Readonly<Record<string, Binding>>;
  /** The `retry` option of the function, if it has one. */
  readonly retryOptions?: unknown;
}

/** An error of the app, as much of it as crosses the process boundary. */
export interface WorkerError {
  readonly message: string;
  readonly stack: string;
}

export type InvocationOutcome =
  | { readonly kind: 'succeeded'; readonly response: InvocationResponse }
  | { readonly kind: 'failed'; readonly error: WorkerError };

export type ToWorker =
  | { readonly kind: 'start'; readonly appDirectory: string; readonly hostVersion: string }
  | { readonly kind: 'invoke'; readonly request: InvocationRequest }
  | { readonly kind: 'terminate' };

export type FromWorker =
  | {
      readonly kind: 'started';
      readonly functions: readonly FunctionMetadata[];
      readonly capabilities: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'log'; readonly entry: LogEntry }
  | { readonly kind: 'invoked'; readonly invocationId: string; readonly outcome: InvocationOutcome }
  | { readonly kind: 'terminated' };
