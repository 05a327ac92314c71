/**
 * A program that starts a proxy of `deploy/proxy`, named by its parameter, on IPv6, opens connections from addresses of
 * this machine and prints as JSON how many stay open. It adds those addresses itself, so it runs in its own network
 * namespace.
 */
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { until } from '@svc/testkit/until';
import { PROXIES, startProxy } from './reverse-proxy.ts';

const PORT = 8443;
const LIMIT = 8;
const OPENED = 3 * LIMIT;
/** Less than the time after which either proxy closes a silent connection. */
const GIVE_UP_MS = 5_000;
/** Addresses in one /64, written and shortened in different ways, and one in the next /64. */
const SUBSCRIBER = ['fd00:1::1', 'fd00:1::2', 'fd00:1:0:0:5::', 'fd00:1:0:0:1:2:3:4'];
const NEIGHBOUR = ['fd00:1:0:1::1'];
const IPV4 = ['127.0.0.2'];

/** Replacements in the configuration, so that the proxy also listens on IPv6 and limits at `LIMIT`. */
const CHANGED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  HAProxy: [
    [`bind "\${SVC_BIND}"`, `bind :::${PORT} v4v6 ssl crt "\${SVC_CERTIFICATE}"\n    bind "\${SVC_BIND}"`],
    ['sc0_conn_cur gt 512', `sc0_conn_cur gt ${LIMIT}`],
  ],
  nginx: [
    ['listen 127.0.0.1:8443;', `listen [::]:${PORT} ipv6only=off;\n        listen 127.0.0.1:8443;`],
    ['limit_conn addresses 512', `limit_conn addresses ${LIMIT}`],
  ],
};

const opened: Socket[] = [];

/**
 * Opens connections from each address in turn, and counts those that are open after the proxy has closed those beyond
 * the limit.
 */
const countOpen = async (addresses: readonly string[], host: string): Promise<number> => {
  const sockets = Array.from({ length: OPENED }, (_, i) =>
    connect({ host, port: PORT, localAddress: addresses[i % addresses.length] ?? '' }),
  );
  opened.push(...sockets);
  for (const socket of sockets) socket.on('error', () => {}).resume();
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  const deadline = Date.now() + GIVE_UP_MS;
  await until(async () => open() <= LIMIT || Date.now() > deadline);
  return open();
};

for (const address of [...SUBSCRIBER, ...NEIGHBOUR])
  execFileSync('ip', ['-6', 'addr', 'add', `${address}/64`, 'dev', 'lo', 'nodad']);
const kind = PROXIES.find(({ name }) => name === process.argv[2]);
if (kind === undefined) throw new Error(`no proxy ${process.argv[2]}`);
const nobody = { port: 1, adminPort: 1 };
const proxy = await startProxy(kind, [nobody, nobody], CHANGED[kind.name]);
try {
  const subscriber = await countOpen(SUBSCRIBER, 'fd00:1::1');
  const neighbour = await countOpen(NEIGHBOUR, 'fd00:1::1');
  const ipv4 = await countOpen(IPV4, '127.0.0.1');
  console.log(JSON.stringify({ subscriber, neighbour, ipv4 }));
} finally {
  for (const socket of opened) socket.destroy();
  await proxy.stop();
}
