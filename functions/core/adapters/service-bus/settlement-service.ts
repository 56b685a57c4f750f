import { type Client, credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

const bytes = (id: number) => ({ type: 'bytes', id });
const text = (id: number) => ({ type: 'string', id });
const method = (requestType: string) => ({ requestType, responseType: 'google.protobuf.Empty', comment: '' });
const optionalText = (id: number) => ({ type: 'google.protobuf.StringValue', id });

/**
 * The host's settlement service, as its extension declares it: no package, each call keyed by the delivery's lock
 * token, or by its session. `propertiesToModify` is one AMQP-encoded map; empty means none.
 */
const DESCRIPTOR = {
  nested: {
    google: {
      nested: {
        protobuf: {
          nested: { StringValue: { fields: { value: text(1) } }, Empty: { fields: {} } },
        },
      },
    },
    CompleteRequest: { fields: { locktoken: text(1) } },
    AbandonRequest: { fields: { locktoken: text(1), propertiesToModify: bytes(2) } },
    DeadletterRequest: {
      fields: {
        locktoken: text(1),
        propertiesToModify: bytes(2),
        deadletterReason: optionalText(3),
        deadletterErrorDescription: optionalText(4),
      },
    },
    RenewMessageLockRequest: { fields: { locktoken: text(1) } },
    RenewSessionLockRequest: { fields: { sessionId: text(1) } },
    Settlement: {
      methods: {
        Complete: method('CompleteRequest'),
        Abandon: method('AbandonRequest'),
        Deadletter: method('DeadletterRequest'),
        RenewMessageLock: method('RenewMessageLockRequest'),
        // Its answer holds the new end of the lock, by the broker's clock: of no use here, so it is not read.
        RenewSessionLock: method('RenewSessionLockRequest'),
      },
    },
  },
};

type SettlementMethod = 'Complete' | 'Abandon' | 'Deadletter' | 'RenewMessageLock' | 'RenewSessionLock';

/** The calls of the host's settlement service that this consumer makes. */
export interface SettlementService {
  /** Resolves once the broker has answered, within 10 s. @throws gRPC's error, with its status and text */
  call(method: SettlementMethod, request: object): Promise<void>;
}

const DEADLINE_IN_MS = 10_000;

/**
 * Connects to the service on the worker's own address, when first called.
 *
 * @param args the worker's arguments: `--functions-uri http://H:P/`, or `--host H --port P`
 */
export function settlementService(args: readonly string[]): SettlementService {
  let client: Client | undefined;
  const connect = (): Client => {
    const Settlement = loadPackageDefinition(fromJSON(DESCRIPTOR))['Settlement'] as unknown as new (
      ...of: ConstructorParameters<typeof Client>
    ) => Client;
    return new Settlement(hostAddress(args), credentials.createInsecure(), {});
  };
  return {
    call(method, request) {
      client ??= connect();
      const calls = client as unknown as Record<string, (...args: unknown[]) => void>;
      return new Promise((resolve, reject) => {
        calls[method]?.call(client, request, { deadline: Date.now() + DEADLINE_IN_MS }, (error: ServiceError | null) =>
          error ? reject(error) : resolve(),
        );
      });
    },
  };
}

/** The host's `H:P` from the worker's arguments. @throws one line where they do not tell */
export function hostAddress(args: readonly string[]): string {
  const argument = (name: string): string | undefined => {
    const at = args.indexOf(name);
    return at === -1 ? args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) : args[at + 1];
  };
  const uri = argument('--functions-uri') ?? '';
  if (URL.canParse(uri)) {
    const { hostname, port, protocol } = new URL(uri);
    return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  }
  const [host, port] = [argument('--host'), argument('--port')];
  if (host && port) return `${host}:${port}`;
  throw new Error(
    "The worker's arguments do not tell the host's address: expected --functions-uri, or --host and --port. What to do: run this app in a Functions host.",
  );
}
