import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { findFreePorts } from './free-ports.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('findFreePorts returns different, free ports, and none of them again in the next call', async () => {
  const ports = [...(await findFreePorts(200)), ...(await findFreePorts(200))];
  expect(new Set(ports).size).toBe(400);
  for (const port of ports.slice(0, 5)) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await once(server.close(), 'close');
  }
});

it('findFreePorts returns no port to two workers of a test run', async () => {
  const found = [];
  for (const id of ['1', '2']) {
    vi.stubEnv('VITEST_POOL_ID', id);
    vi.resetModules();
    const worker = await import('./free-ports.ts');
    found.push(...(await worker.findFreePorts(1_000)));
  }
  expect(new Set(found).size).toBe(2_000);
});

it('findFreePorts does not return a port in use', async () => {
  const [port = 0] = await findFreePorts(1);
  const server = createServer().listen(port + 16, '127.0.0.1');
  await once(server, 'listening');
  expect(await findFreePorts(1)).not.toContain(port + 16);
  await once(server.close(), 'close');
});

it.runIf(process.platform === 'linux')(
  'findFreePorts returns only ports below those of outgoing connections',
  async () => {
    const [first = 0] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'))
      .split(/\s+/)
      .map(Number);
    for (const port of await findFreePorts(100)) expect(port).toBeLessThan(first);
  },
);
