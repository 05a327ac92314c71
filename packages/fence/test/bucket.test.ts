import { startS3Server } from '@svc/testkit/s3-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFenceStore } from '../src/index.ts';
import { describeFenceStore } from './contract.ts';

const server = await startS3Server('backups');
const opened: { close(): void }[] = [];
beforeAll(() => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
});
afterAll(async () => {
  for (const one of opened) one.close();
  await server.stop();
});

let prefixes = 0;
const open = async () => {
  const one = await openFenceStore(`s3://backups/svc/${prefixes++}`, server.endpoint);
  opened.push(one);
  return one.fenceStore;
};

const ready = await Promise.all(Array.from({ length: 6 }, open));
describeFenceStore('a bucket', () => {
  const fenceStore = ready.pop();
  if (fenceStore === undefined) throw new Error('open more');
  return fenceStore;
});

it('a bucket lists more than a page, and only the keys of its own prefix', async () => {
  const [fenceStore, other] = [await open(), await open()];
  const keys = Array.from({ length: 5 }, (_, i) => `names/${i}`);
  for (const key of keys) await fenceStore.put(key, '{}', null);
  await other.put('names/else', '{}', null);
  expect([...(await fenceStore.list('names'))].sort()).toEqual(keys);
});

it.each([
  ['answers with an error', () => server.endpoint],
  ['is unreachable', () => 'http://127.0.0.1:1'],
])('a bucket that %s is not treated as empty or as written by another', async (_, endpointOf) => {
  const one = await openFenceStore('s3://backups/svc/away', endpointOf());
  opened.push(one);
  const { find, list, put } = one.fenceStore;
  server.behave('fail');
  try {
    for (const call of [() => find('head'), () => list('names'), () => put('head', '1', null)])
      await expect(call()).rejects.toThrow();
  } finally {
    server.behave('well');
  }
});

it("no request has a checksum header, which S3 servers other than Amazon's may not know", async () => {
  const fenceStore = await open();
  const names = new Set<string>();
  server.listen((_, headers) => {
    for (const name of Object.keys(headers)) names.add(name);
  });
  await fenceStore.put('head', '1', null);
  await fenceStore.find('head');
  await fenceStore.list('names');
  server.listen(() => {});
  expect(names).toContain('if-none-match');
  expect([...names].filter((name) => name.includes('checksum'))).toEqual([]);
});

it('an empty AWS_REGION, as a compose file sets it, counts as not set', async () => {
  const before = process.env.AWS_REGION;
  process.env.AWS_REGION = '';
  try {
    const fenceStore = await open();
    expect(await fenceStore.put('head', '1', null)).toBe(true);
    expect(await fenceStore.find('head')).toMatchObject({ text: '1' });
  } finally {
    if (before === undefined) delete process.env.AWS_REGION;
    else process.env.AWS_REGION = before;
  }
});
