import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { findFreePorts } from './free-ports.ts';

it('ports taken together are all different, and free', async () => {
  const ports = await findFreePorts(200);
  expect(new Set(ports).size).toBe(200);
  for (const port of ports.slice(0, 5)) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await once(server.close(), 'close');
  }
});
