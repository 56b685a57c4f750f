import rhea, { type Connection, type EventContext } from 'rhea';
import { onTestFinished } from 'vitest';

/** An AMQP client below the SDK, for what the SDK hides: bytes as they are, and mistakes that it never makes. */
export type RawClient = {
  /** Sends encoded bytes; resolves with the outcome's name. */
  send(address: string, bytes: Buffer, format?: number): Promise<string>;
  /** Receives one message as the bytes that came over the wire. */
  receiveBytes(address: string): Promise<Buffer>;
  /** Sends a request and resolves with the application properties of its reply. */
  request(address: string, operation: string, body: object): Promise<Record<string, unknown>>;
  readonly connection: Connection;
};

type Frames = { on_transfer(frame: { payload: Buffer; performative: { message_format?: number } }): void };

export async function aRawClient(port: number): Promise<RawClient> {
  const container = rhea.create_container();
  container.on('error', () => {});
  container.on('disconnected', () => {});
  const connection = container.connect({ port, host: '127.0.0.1', reconnect: false, username: 'anonymous' });
  onTestFinished(() => connection.close());
  return {
    connection,
    request: (address, operation, body) =>
      new Promise((resolve) => {
        const receiver = connection.open_receiver({
          name: 'replies',
          source: address,
          target: 'replies',
          autoaccept: true,
        });
        const sender = connection.open_sender(address);
        receiver.once('message', ({ message }: EventContext) => resolve(message?.application_properties ?? {}));
        sender.once('sendable', () =>
          sender.send({ message_id: 'request', reply_to: 'replies', application_properties: { operation }, body }),
        );
      }),
    send: (address, bytes, format = 0) =>
      new Promise((resolve) => {
        const sender = connection.open_sender(address);
        sender.once('sendable', () => sender.send(bytes, undefined, format));
        for (const outcome of ['accepted', 'rejected', 'released', 'modified'])
          sender.once(outcome, () => resolve(outcome));
      }),
    receiveBytes: (address) =>
      new Promise((resolve) => {
        const parts: Buffer[] = [];
        const receiver = connection.open_receiver({ source: address, autoaccept: true });
        const session = receiver.session as unknown as Frames;
        const transfer = session.on_transfer.bind(session);
        session.on_transfer = (frame) => {
          parts.push(Buffer.from(frame.payload));
          transfer(frame);
        };
        receiver.once('message', (_context: EventContext) => resolve(Buffer.concat(parts)));
      }),
  };
}
