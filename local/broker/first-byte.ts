import type { Socket } from 'node:net';

const TLS_HANDSHAKE = 0x16;
const METHODS = /^[DGHOP]/;

/** What a client speaks. */
export type Protocol = 'http' | 'tls' | 'other';

/**
 * Waits for what a client says first, and tells by its first byte what it speaks: one port serves them all. Nothing is
 * taken from the socket; whoever serves it reads everything.
 */
export function onProtocol(socket: Socket, serve: (protocol: Protocol) => void | Promise<void>): void {
  socket.once('data', async (bytes: Buffer) => {
    socket.pause();
    socket.unshift(bytes);
    try {
      await serve(protocolOf(bytes));
      // Only now: whoever serves it must have its listeners in place before anything flows.
      socket.resume();
    } catch (fault) {
      socket.destroy(fault as Error);
    }
  });
}

function protocolOf(bytes: Buffer): Protocol {
  if (bytes[0] === TLS_HANDSHAKE) return 'tls';
  return METHODS.test(bytes.toString('latin1', 0, 1)) ? 'http' : 'other';
}
