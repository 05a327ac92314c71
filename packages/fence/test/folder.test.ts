import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import {
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fence, withinMs } from '@svc/service';
import { afterAll, expect, it, vi } from 'vitest';
import { openFolder } from '../src/index.ts';
import { describeFenceStore } from './contract.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-fence-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describeFenceStore('a folder', () => openFolder(mkdtempSync(join(root, 'one-'))));

it('a hanging mount takes one thread for the head and one for the copies, and host names are still looked up', async () => {
  const hanging = mkdtempSync(join(root, 'hanging-'));
  // Nothing writes into the pipe, so opening it for reading never ends and cannot be cancelled.
  const keys = ['head', ...['a', 'b', 'c', 'd', 'e'].map((name) => `names/${name}`)];
  const pipes = keys.map((key) => join(hanging, key, '1'));
  for (const key of keys) mkdirSync(join(hanging, key), { recursive: true });
  expect(spawnSync('mkfifo', pipes).status).toBe(0);
  const fenceStore = openFolder(hanging, { deadlineMs: 100 });
  const log = { warn: () => {}, error: () => {} };
  const deps = { store: { lineage: { onUnknown: () => {} } }, log };
  const fence = new Fence(deps as never, { fenceStore, maxAgeMs: 50 });
  const late = (what: string) => () => Promise.reject(new Error(`${what}: no answer`));
  try {
    const copies = Promise.allSettled(
      keys.slice(1).map((key) => withinMs(5_000, fenceStore.find(key), late(key))),
    );
    for (let round = 0; round < 5; round++) await fence.round();
    expect(await withinMs(5_000, lookup('localhost'), late('localhost'))).toHaveProperty('address');
    const reasons = (await copies).map((one) =>
      one.status === 'rejected' ? one.reason.message : one.status,
    );
    const refused = 'the last call has not ended';
    expect(reasons).toEqual(['no answer within 100 ms', refused, refused, refused, refused]);
    await expect(fenceStore.put('head', 'text', null)).rejects.toThrow(refused);
    await expect(fenceStore.list('names')).rejects.toThrow(refused);
    await fence.round();
    expect(fence.problem()).toMatchObject({ kind: 'stale', reason: expect.stringContaining(refused) });
  } finally {
    for (const pipe of pipes) closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  }
  for (const pipe of pipes) rmSync(pipe);
  // A put that is late on a loaded machine takes place all the same.
  const putHead = async () => {
    await fenceStore.put('head', 'text', null);
    expect(await fenceStore.find('head')).toMatchObject({ text: 'text' });
  };
  await vi.waitFor(putHead, { timeout: 20_000 });
  await vi.waitFor(async () => expect(await fenceStore.find('names/a')).toBeNull(), { timeout: 20_000 });
});

it('an object whose first put was cut off is not listed, and can be put later', async () => {
  const cut = mkdtempSync(join(root, 'cut-'));
  const fenceStore = openFolder(cut);
  await fenceStore.put('revoked/whole', 'text', null);
  mkdirSync(join(cut, 'revoked', 'begun'));
  mkdirSync(join(cut, 'revoked', 'written'));
  writeFileSync(join(cut, 'revoked', 'written', 'draft-0123456789abcdef'), 'te');
  expect(await fenceStore.list('revoked')).toEqual(['revoked/whole']);
  expect(await fenceStore.put('revoked/begun', 'text', null)).toBe(true);
  expect([...(await fenceStore.list('revoked'))].sort()).toEqual(['revoked/begun', 'revoked/whole']);
});

it.skipIf(process.getuid?.() !== 0)(
  'files that root writes belong to the owner of the folder, so that the service can still read them',
  async () => {
    const [uid, gid] = [65_534, 65_533];
    const given = mkdtempSync(join(root, 'given-'));
    chownSync(given, uid, gid);
    for (const place of [given, join(given, 'missing', 'fence')]) {
      const fenceStore = openFolder(place);
      expect(await fenceStore.put('head', 'one', null)).toBe(true);
      expect(await fenceStore.put('head', 'two', '1')).toBe(true);
      expect(await fenceStore.put('notes/of/one', 'text', null)).toBe(true);
    }
    const made = readdirSync(given, { recursive: true, encoding: 'utf8' });
    expect(made).toContain(join('missing', 'fence', 'head', '2'));
    for (const name of made)
      expect([name, statSync(join(given, name))]).toEqual([name, expect.objectContaining({ uid, gid })]);
  },
);
