import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { decodeAmqpMap } from './amqp-map.ts';
import { SETTLEMENT_SERVICE } from './contract.ts';
import type { HeldMessage, HeldMessages, HeldSession } from './held-messages.ts';

interface SettleRequest {
  readonly locktoken?: string;
  readonly sessionId?: string;
  readonly sessionState?: Uint8Array;
  readonly propertiesToModify?: Uint8Array;
  readonly deadletterReason?: { readonly value?: string } | null;
  readonly deadletterErrorDescription?: { readonly value?: string } | null;
}

/** The gRPC server that workers settle through. */
export interface SettlementService {
  readonly port: number;
  stop(): void;
}

/**
 * Serves the settlement of the held messages on 127.0.0.1.
 *
 * Answers as the real one: an unknown token is FAILED_PRECONDITION, an error of the broker's client is UNKNOWN with the
 * text of the exception, whose reason stands in parentheses, e.g. `(MessageLockLost)`.
 *
 * @throws Error when no port can be opened.
 */
export async function startSettlementService(held: HeldMessages): Promise<SettlementService> {
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(SETTLEMENT_SERVICE, methodsFor(held));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, stop: () => server.forceShutdown() };
}

function methodsFor(held: HeldMessages): UntypedServiceImplementation {
  const settle = (act: (message: HeldMessage, request: SettleRequest) => Promise<void>) =>
    unary(async (request) => {
      const message = held.find(request.locktoken ?? '');
      if (!message) throw refusal(`LockToken ${request.locktoken ?? ''} not found.`);
      await act(message, request);
      return {};
    });
  const inSession = (act: (session: HeldSession, request: SettleRequest) => Promise<object>) =>
    unary(async (request) => {
      const session = held.findSession(request.sessionId ?? '');
      if (!session) throw refusal(`SessionId ${request.sessionId ?? ''} not found.`);
      return act(session, request);
    });
  return {
    Complete: settle((message) => message.complete()),
    Abandon: settle((message, request) => message.abandon(propertiesOf(request))),
    Defer: settle((message, request) => message.defer(propertiesOf(request))),
    Deadletter: settle((message, request) =>
      message.deadLetter(
        textOf(request.deadletterReason),
        textOf(request.deadletterErrorDescription),
        propertiesOf(request),
      ),
    ),
    RenewMessageLock: settle((message) => message.renewLock()),
    GetSessionState: inSession(async (session) => ({ sessionState: await session.state() })),
    SetSessionState: inSession(async (session, { sessionState }) => {
      await session.setState(sessionState ?? Buffer.alloc(0));
      return {};
    }),
    ReleaseSession: inSession(async (session) => {
      session.release();
      return {};
    }),
    RenewSessionLock: inSession(async (session) => ({ lockedUntil: timestamp(await session.renewLock()) })),
  };
}

function propertiesOf({ propertiesToModify }: SettleRequest) {
  return decodeAmqpMap(propertiesToModify ?? Buffer.alloc(0));
}

function textOf(value: { readonly value?: string } | null | undefined): string | undefined {
  return value ? (value.value ?? '') : undefined;
}

function timestamp(instantUtc: Date): { seconds: number; nanos: number } {
  const inMs = instantUtc.getTime();
  return { seconds: Math.floor(inMs / 1000), nanos: (inMs % 1000) * 1_000_000 };
}

function unary(act: (request: SettleRequest) => Promise<object>) {
  return (call: ServerUnaryCall<SettleRequest, object>, reply: sendUnaryData<object>): void => {
    act(call.request).then(
      (response) => reply(null, response),
      (error: Error & Partial<ServiceError>) =>
        reply(
          error.code === status.FAILED_PRECONDITION ? error : { code: status.UNKNOWN, details: exceptionText(error) },
        ),
    );
  };
}

function refusal(details: string): Error & Partial<ServiceError> {
  return Object.assign(new Error(details), { code: status.FAILED_PRECONDITION, details });
}

/** As .NET prints it: the type, the message, and for an error of Service Bus its reason. */
function exceptionText(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string'
    ? `Azure.Messaging.ServiceBus.ServiceBusException: ${error.message} (${error.code})`
    : `System.InvalidOperationException: ${error.message}`;
}
