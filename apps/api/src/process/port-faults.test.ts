import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { findPortFaults } from './port-faults.ts';

const HOST = '127.0.0.1';

const listen = async (): Promise<{ port: number; close(): Promise<unknown> }> => {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, close };
};

it('findPortFaults names the variable of each port that is taken', async () => {
  const [one, other] = [await listen(), await listen()];
  const faults = await findPortFaults({ host: HOST, port: one.port, adminHost: HOST, adminPort: other.port });
  expect(faults).toEqual([
    expect.stringMatching(`^SVC_PORT: port ${one.port} is taken`),
    expect.stringMatching(`^SVC_ADMIN_PORT: port ${other.port} is taken`),
  ]);
});

it('findPortFaults leaves free ports unused: a second check finds them free as well', async () => {
  const [one, other] = [await listen(), await listen()];
  await Promise.all([one.close(), other.close()]);
  const config = { host: HOST, port: one.port, adminHost: HOST, adminPort: other.port };
  expect(await findPortFaults(config)).toEqual([]);
  expect(await findPortFaults(config)).toEqual([]);
});

it.each(['no-such-host.invalid', '192.0.2.1'])(
  'findPortFaults names the variable of each host that cannot be bound: %s',
  async (host) => {
    const ports = { port: 40_001, adminPort: 40_002 };
    expect(await findPortFaults({ host, adminHost: host, ...ports })).toEqual([
      expect.stringMatching(`^SVC_HOST ${host} `),
      expect.stringMatching(`^SVC_ADMIN_HOST ${host} `),
    ]);
  },
);
