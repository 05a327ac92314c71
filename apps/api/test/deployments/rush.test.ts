/** More new connections than an event loop handles at once. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { withDatabase } from '@svc/testkit';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { startApiProcess } from '../world/api-process.ts';

const database = withDatabase();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

// Linux has all of 127.0.0.0/8; a node accepts 512 connections of one address.
it.runIf(process.platform === 'linux')(
  '1,000 clients that connect while a node is stopped are all answered 200 once it continues',
  async () => {
    const node = await startApiProcess(database.url);
    onTestFinished(async () => {
      await node.stop();
    });
    node.signal('SIGSTOP');
    const { port, hostname } = new URL(node.baseUrl);
    for (let i = 0; i < 1_000; i++) {
      const socket = connect({ port: Number(port), host: hostname, localAddress: `127.0.0.${2 + (i % 4)}` });
      sockets.push(socket);
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const answers = sockets.map(async (socket) => {
      socket.write('GET /.well-known/did.json HTTP/1.1\r\nHost: svc.test\r\n\r\n');
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return chunk.toString('latin1').slice(0, 15);
    });
    node.signal('SIGCONT');
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  },
);
