/** `GET /ssf/streams`, with and without `stream_id`. */
import { expect, it } from 'vitest';
import { NO_STREAM, withStreams } from './world.ts';

const world = withStreams();

it('GET /ssf/streams returns one stream as an object, all as a list, and none as an empty list', async () => {
  expect((await world.deployment.call('GET', '/ssf/streams', { key: world.key })).text).toBe('[]');
  const [one, other] = [await world.create(), await world.create()];
  const { json } = await world.call('GET', `/ssf/streams?stream_id=${one.stream_id}`);
  expect(json).toEqual(one);
  const { text, headers } = await world.call('GET', '/ssf/streams');
  expect(JSON.parse(text)).toEqual([one, other]);
  expect(headers['cache-control']).toBe('no-store');
});

it('Another subject’s SSF stream answers on every route exactly as an unknown one: 404', async () => {
  const { stream_id } = await world.create();
  const { principalKey: key } = await world.deployment.createTenants();
  const asks: readonly (readonly [string, (id: string) => string, ((id: string) => object)?])[] = [
    ['GET', (id) => `/ssf/streams?stream_id=${id}`],
    ['PATCH', () => '/ssf/streams', (id) => ({ stream_id: id })],
    ['PUT', () => '/ssf/streams', (id) => ({ stream_id: id })],
    ['DELETE', (id) => `/ssf/streams?stream_id=${id}`],
    ['GET', (id) => `/ssf/status?stream_id=${id}`],
    ['POST', () => '/ssf/status', (id) => ({ stream_id: id, status: 'disabled' })],
    ['POST', () => '/ssf/verify', (id) => ({ stream_id: id })],
    ['POST', (id) => `/ssf/streams/${id}/poll`, () => ({ returnImmediately: true })],
  ];
  for (const [method, path, body] of asks) {
    const ask = async (id: string) => {
      const { status, text } = await world.call(method, path(id), body?.(id), key);
      return { status, text: text.replaceAll(id, '') };
    };
    expect(await ask(stream_id)).toEqual(await ask(NO_STREAM));
    expect((await ask(stream_id)).status).toBe(404);
  }
  expect((await world.call('GET', `/ssf/status?stream_id=${stream_id}`)).json.status).toBe('enabled');
});
