import { createServer, type Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpSource, HOUR_MS } from './http-source.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The server never ends an answer. Between two pieces it collects garbage, so that unreferenced objects are gone. */
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((_, response) => {
    const drip = setInterval(() => {
      collectGarbage();
      response.write('a');
    }, 10);
    response.on('close', () => clearInterval(drip));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const PATIENT = { answerMs: HOUR_MS, idleMs: HOUR_MS, streamsMs: HOUR_MS };

const source = (stop = new AbortController().signal) =>
  createHttpSource(origin, stop, { answerMs: 200, idleMs: 150, streamsMs: 60_000 });

it('an answer that never ends is given up at its deadline, although it still sends', async () => {
  await expect(source().fetchText('/', 65_536)).rejects.toThrow('it did not answer in time');
});

it('a stream of leaves that never ends is given up at its deadline', async () => {
  const read = async () => {
    const { pieces } = await source().fetchStream('/', 100);
    for await (const _ of pieces);
  };
  await expect(read()).rejects.toThrow('it did not answer in time');
});

it('all leaves of a look have one deadline, however many the service says there are', async () => {
  const asked = createHttpSource(origin, new AbortController().signal, { ...PATIENT, streamsMs: 50 });
  const read = async () => {
    const { pieces } = await asked.fetchStream('/', 65_000_000_000);
    for await (const _ of pieces);
  };
  for (const _ of [1, 2]) await expect(read()).rejects.toThrow('the time for leaves is over');
  await expect(asked.fetchText('/', 1)).rejects.toThrow('it answered with more than 1 bytes');
});

it('stopping the monitor ends a stream before its deadline', async () => {
  const stop = new AbortController();
  const slow = createHttpSource(origin, stop.signal, {
    answerMs: HOUR_MS,
    idleMs: HOUR_MS,
    streamsMs: HOUR_MS,
  });
  const { pieces } = await slow.fetchStream('/', 100);
  const read = async () => {
    for await (const _ of pieces) stop.abort();
  };
  await expect(read()).rejects.toThrow('the monitor was stopped');
});
