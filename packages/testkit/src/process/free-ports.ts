/** Ports for servers that must be told theirs before they start. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const HOST = '127.0.0.1';

/** `count` free ports, all different: they are held together and let go together. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, HOST));
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
