import { BEHAVIOURS, startS3Server } from '@svc/testkit/s3-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MayNotWrite, openFenceStore } from '../src/index.ts';
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
const openAt = async (place: string, endpoint = server.endpoint) => {
  const one = await openFenceStore(place, endpoint);
  opened.push(one);
  return one;
};
const open = async () => (await openAt(`s3://backups/svc/${prefixes++}`)).fenceStore;

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
  const { find, list, put } = (await openAt('s3://backups/svc/away', endpointOf())).fenceStore;
  server.behave('fail');
  try {
    for (const call of [() => find('head'), () => list('names'), () => put('head', '1', null)])
      await expect(call()).rejects.toThrow();
  } finally {
    server.behave('well');
  }
});

describe('a bucket is tried before the first write:', () => {
  afterEach(() => server.behave('well'));
  const keysBelow = (prefix: string) => [...server.objects.keys()].filter((key) => key.startsWith(prefix));

  it.each([
    [BEHAVIOURS.unconditional, 'unconditional'],
    [BEHAVIOURS.unmatched, 'unmatched'],
    [BEHAVIOURS['no-conditions'], 'no-conditions'],
  ] as const)('one that %s is refused, and has no object of the fence', async (_, how) => {
    const prefix = `tried/${how}`;
    for (const _again of ['without the probe', 'with it']) {
      const { fenceStore, assertConditional } = await openAt(`s3://backups/${prefix}`);
      server.behave(how);
      const refusal = 'does not refuse a write whose condition does not hold';
      await expect(assertConditional()).rejects.toThrow(refusal);
      await expect(fenceStore.put('head', '1', null)).rejects.toThrow(refusal);
      expect(keysBelow(prefix).filter((key) => key !== `${prefix}/probe`)).toEqual([]);
    }
  });

  it('one that is away is tried again at the next write, and once it has obeyed no more', async () => {
    const { fenceStore } = await openAt('s3://backups/tried/away');
    server.behave('fail', 1);
    await expect(fenceStore.put('head', '1', null)).rejects.toThrow();
    expect(await fenceStore.put('head', '1', null)).toBe(true);
    const before = server.asked;
    expect(await fenceStore.put('names/a', '{}', null)).toBe(true);
    expect(server.asked - before).toBe(1);
  });

  it('processes that start together on an empty bucket all find that it obeys', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => openAt('s3://backups/tried/together')));
    await Promise.all(all.map(({ assertConditional }) => assertConditional()));
    expect(keysBelow('tried/together')).toEqual(['tried/together/probe']);
  });

  it('credentials that may not write are told apart', async () => {
    const { assertConditional } = await openAt('s3://backups/tried/forbidden');
    server.behave('forbid');
    await expect(assertConditional()).rejects.toThrow(MayNotWrite);
  });
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
