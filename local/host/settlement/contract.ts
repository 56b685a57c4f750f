import {
  type GrpcObject,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

type Fields = Readonly<Record<string, string>>;

/** Fields in the order of their numbers, from 1. */
const MESSAGES: Readonly<Record<string, Fields>> = {
  CompleteRequest: { locktoken: 'string' },
  AbandonRequest: { locktoken: 'string', propertiesToModify: 'bytes' },
  DeferRequest: { locktoken: 'string', propertiesToModify: 'bytes' },
  DeadletterRequest: {
    locktoken: 'string',
    propertiesToModify: 'bytes',
    deadletterReason: 'google.protobuf.StringValue',
    deadletterErrorDescription: 'google.protobuf.StringValue',
  },
  RenewMessageLockRequest: { locktoken: 'string' },
  GetSessionStateRequest: { sessionId: 'string' },
  GetSessionStateResponse: { sessionState: 'bytes' },
  SetSessionStateRequest: { sessionId: 'string', sessionState: 'bytes' },
  ReleaseSessionRequest: { sessionId: 'string' },
  RenewSessionLockRequest: { sessionId: 'string' },
  RenewSessionLockResponse: { lockedUntil: 'google.protobuf.Timestamp' },
};

const METHODS: Readonly<Record<string, { request: string; response: string }>> = {
  Complete: { request: 'CompleteRequest', response: 'google.protobuf.Empty' },
  Abandon: { request: 'AbandonRequest', response: 'google.protobuf.Empty' },
  Defer: { request: 'DeferRequest', response: 'google.protobuf.Empty' },
  Deadletter: { request: 'DeadletterRequest', response: 'google.protobuf.Empty' },
  RenewMessageLock: { request: 'RenewMessageLockRequest', response: 'google.protobuf.Empty' },
  GetSessionState: { request: 'GetSessionStateRequest', response: 'GetSessionStateResponse' },
  SetSessionState: { request: 'SetSessionStateRequest', response: 'google.protobuf.Empty' },
  ReleaseSession: { request: 'ReleaseSessionRequest', response: 'google.protobuf.Empty' },
  RenewSessionLock: { request: 'RenewSessionLockRequest', response: 'RenewSessionLockResponse' },
};

/** The settlement service as the Service Bus extension publishes it: no proto package, so `/Settlement/Complete`. */
export const SettlementClient = settlementClient();

export const SETTLEMENT_SERVICE: ServiceDefinition = SettlementClient.service;

function settlementClient(): ServiceClientConstructor {
  const methods = Object.entries(METHODS).map(([name, { request, response }]) => [
    name,
    { requestType: request, responseType: response },
  ]);
  const wellKnown = {
    Empty: message({}),
    StringValue: message({ value: 'string' }),
    Timestamp: message({ seconds: 'int64', nanos: 'int32' }),
  };
  const definition = fromJSON(
    {
      nested: {
        Settlement: { methods: Object.fromEntries(methods) },
        ...Object.fromEntries(Object.entries(MESSAGES).map(([name, fields]) => [name, message(fields)])),
        google: { nested: { protobuf: { nested: wellKnown } } },
      },
    },
    // Without an option `oneofs` or `defaults`, an absent StringValue stays absent, which is what tells it from ''.
    { keepCase: true },
  );
  return (loadPackageDefinition(definition) as GrpcObject)['Settlement'] as ServiceClientConstructor;
}

function message(fields: Fields): { fields: Record<string, { type: string; id: number }> } {
  return {
    fields: Object.fromEntries(Object.entries(fields).map(([name, type], index) => [name, { type, id: index + 1 }])),
  };
}
