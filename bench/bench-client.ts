import { once } from 'node:events';
import rhea, { type Connection, type EventContext, type Receiver, type Sender } from 'rhea';
import { accept } from './outcome.ts';

const CREDIT = 500;

/** The same client for every server: below any SDK, which would cost more than what is measured. */
export class BenchClient {
  readonly #connection: Connection;
  readonly #sender: Sender;
  readonly #receiver: Receiver;

  private constructor(connection: Connection, sender: Sender, receiver: Receiver) {
    this.#connection = connection;
    this.#sender = sender;
    this.#receiver = receiver;
  }

  static async connect(port: number): Promise<BenchClient> {
    const container = rhea.create_container();
    const options = { port, host: '127.0.0.1', reconnect: false, username: 'anonymous', tcp_no_delay: true };
    const connection = container.connect(options as never);
    const sender = connection.open_sender('bench');
    await once(sender, 'sendable');
    const session = connection.create_session();
    session.begin();
    const receiver = session.open_receiver({
      source: 'bench',
      credit_window: 0,
      autoaccept: false,
      autosettle: false,
      rcv_settle_mode: 1,
    });
    await once(receiver, 'receiver_open');
    return new BenchClient(connection, sender, receiver);
  }

  /** Sends `count` times the same encoded message, as fast as the server takes them, and waits for every outcome. */
  send(bytes: Buffer, count: number): Promise<void> {
    const sender = this.#sender;
    return new Promise((resolve, reject) => {
      let sent = 0;
      let done = 0;
      const fill = () => {
        for (; sent < count && sender.sendable(); sent++) sender.send(bytes, undefined, 0);
      };
      const onAccepted = () => {
        if (++done === count) stop(resolve);
      };
      const onRejected = ({ delivery }: EventContext) => {
        stop(() => reject(new Error(`A send was refused: ${JSON.stringify(delivery?.remote_state)}`)));
      };
      const stop = (then: () => void) => {
        sender.off('sendable', fill).off('accepted', onAccepted).off('rejected', onRejected);
        then();
      };
      sender.on('sendable', fill).on('accepted', onAccepted).on('rejected', onRejected);
      fill();
    });
  }

  /** Receives `count` messages under their locks, completes each, and waits until every completion is confirmed. */
  receive(count: number): Promise<void> {
    const receiver = this.#receiver;
    return new Promise((resolve) => {
      let asked = 0;
      let done = 0;
      const ask = (most: number) => {
        const credit = Math.min(most, count - asked);
        if (credit > 0) receiver.add_credit(credit);
        asked += credit;
      };
      const onMessage = ({ delivery }: EventContext) => accept(delivery, false);
      const onSettled = ({ delivery }: EventContext) => {
        // Sends nothing more; rhea frees its record of the delivery, of which it holds 2048.
        accept(delivery, true);
        done++;
        if (done % (CREDIT / 2) === 0) ask(CREDIT / 2);
        if (done < count) return;
        receiver.off('message', onMessage).off('settled', onSettled);
        resolve();
      };
      receiver.on('message', onMessage).on('settled', onSettled);
      ask(CREDIT);
    });
  }

  async close(): Promise<void> {
    const closed = once(this.#connection, 'connection_close');
    this.#connection.close();
    await closed;
  }
}
