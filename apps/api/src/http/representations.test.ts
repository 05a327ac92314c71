import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Route, type RouteId, routes } from '@svc/contract';
import { expect, it } from 'vitest';
import { examplePath, startService, TOKENS } from '../../test/world/http-fixture.ts';
import { rawGet } from '../../test/world/raw-get.ts';
import type { Handlers } from './handler.ts';

const TEXT = JSON.stringify({ text: 'the same for everybody. '.repeat(200) });
const reads = (Object.entries(routes) as [RouteId, Route][]).filter(([, route]) => route.method === 'get');

const startWithLongAnswers = () =>
  startService({
    handlers: Object.fromEntries(
      reads.map(([id]) => [id, async () => ({ status: 200, rawBody: TEXT })]),
    ) as unknown as Partial<Handlers>,
  });

it('Public answers are compressed; answers for a caller never are, so that their length reveals no secret', async () => {
  const { base } = await startWithLongAnswers();
  const compressed = await Promise.all(
    reads.map(async ([id, route]) => {
      const token = Object.entries(TOKENS).find(([kind]) =>
        (route.auth as readonly string[]).includes(kind),
      )?.[1];
      const { headers } = await rawGet(`${base}${examplePath(id)}`, {
        'accept-encoding': 'br',
        authorization: `Bearer ${token ?? TOKENS.admin}`,
      });
      return headers['content-encoding'] === 'br' ? id : null;
    }),
  );
  expect(compressed.filter((id) => id !== null)).toEqual(
    reads.filter(([, route]) => route.auth.length === 0).map(([id]) => id),
  );
});

it('The content coding is one that the client accepts, and decodes to the same text', async () => {
  const { base } = await startWithLongAnswers();
  const get = (accepted?: string) =>
    rawGet(`${base}/.well-known/did.json`, accepted === undefined ? {} : { 'accept-encoding': accepted });
  const [brotli, zipped, plain, unasked] = [
    await get('gzip, br'),
    await get('gzip'),
    await get('identity'),
    await get(),
  ];
  expect(brotliDecompressSync(brotli.body).toString()).toBe(TEXT);
  expect(gunzipSync(zipped.body).toString()).toBe(TEXT);
  for (const { body, headers } of [plain, unasked])
    expect([body.toString(), headers['content-encoding']]).toEqual([TEXT, undefined]);
  for (const { headers, body } of [brotli, zipped, plain, unasked])
    expect([headers.vary, headers['content-length']]).toEqual(['Accept-Encoding', String(body.length)]);
});

it('A short text is not compressed', async () => {
  const { base } = await startService();
  const { headers } = await rawGet(`${base}/healthz`, { 'accept-encoding': 'br' });
  expect(headers['content-encoding']).toBeUndefined();
});
