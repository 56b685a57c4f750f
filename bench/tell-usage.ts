// Preloaded (`node --import`) into a worker: whoever connects to the port that it prints is told the processor time which
// this process has used since its start, in milliseconds.
import { type AddressInfo, createServer } from 'node:net';

const server = createServer((socket) => {
  const { user, system } = process.cpuUsage();
  socket.end(String((user + system) / 1_000));
});
server.unref();
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`usage is told on port ${(server.address() as AddressInfo).port}\n`);
});
