// Preloaded (`node --import`) into a child process that has an IPC channel: tells the parent on which port the first
// server listens, so that a program which cannot say so itself may be started on port 0, without a race for a free one.
import { type AddressInfo, Server } from 'node:net';

const listen = Server.prototype.listen;

Server.prototype.listen = function (this: Server, ...parameters: unknown[]): Server {
  this.once('listening', () => process.send?.({ port: (this.address() as AddressInfo).port }));
  return Reflect.apply(listen, this, parameters) as Server;
} as typeof listen;
