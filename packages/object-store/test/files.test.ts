import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open as openHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';
import { withinMs } from '@svc/service';
import { afterAll, expect, it, vi } from 'vitest';
import { openObjects, placeMaker } from '../src/index.ts';
import { Places } from '../src/places.ts';
import { bytesOf, describeObjects, named } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-objects-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = async (path: string) => (await openObjects(pathToFileURL(path).href, null)).objects;

const root = join(folder, 'objects');
const objects = await open(root);

describeObjects('files', () => ({
  objects,
  plant: async (name, bytes) => {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), bytes);
  },
}));

it('a deletion is flushed to the folder, so that it survives a loss of power', async () => {
  const [name, bytes] = named('deleted', 'x');
  await objects.put(name, bytes);
  const handle = await openHandle(root);
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
  await handle.close();
  const isThere: boolean[] = [];
  sync.mockImplementation(async () => {
    isThere.push(existsSync(join(root, name)));
  });
  await objects.delete(name);
  sync.mockRestore();
  expect(isThere).toEqual([false]);
});

it('a symbolic link in the place of a folder or an object is not followed', async () => {
  const outside = join(folder, 'outside');
  mkdirSync(join(outside, 'b'), { recursive: true });
  symlinkSync(outside, join(root, 'link'));
  for (const place of ['link', 'link/b', 'link/new']) {
    const [name, bytes] = named(place, 'secret');
    await expect(objects.put(name, bytes)).rejects.toMatchObject({ kind: 'refused' });
  }
  expect([readdirSync(outside), readdirSync(join(outside, 'b'))]).toEqual([['b'], []]);
  const [name, bytes] = named('link', 'secret');
  writeFileSync(join(folder, 'outside', name.slice(5)), bytes);
  await expect(objects.get(name)).rejects.toMatchObject({ kind: 'refused' });
  await expect(objects.delete(name)).rejects.toMatchObject({ kind: 'refused' });
  await expect(objects.list('link', null, 10)).rejects.toMatchObject({ kind: 'refused' });
  const [linked] = named('straight', 'secret');
  mkdirSync(join(root, 'straight'));
  symlinkSync(join(outside, name.slice(5)), join(root, linked));
  await expect(objects.get(linked)).rejects.toMatchObject({ kind: 'unavailable' });
});

it('while a folder is not mounted, all calls are unavailable, and nothing is written in its place', async () => {
  const mount = join(folder, 'mount');
  const away = join(folder, 'away');
  const mounted = await open(mount);
  const [name, bytes] = named('a/b', 'kept');
  await mounted.put(name, bytes);
  renameSync(mount, away);
  // Simulates a mount point whose file system is not mounted.
  mkdirSync(mount);
  const find = async (path: string) =>
    (await openObjects(pathToFileURL(path).href, null, { mayMake: false })).objects;
  for (const gone of [mounted, await find(mount), await find(join(folder, 'typo'))])
    for (const call of [
      () => gone.get(name),
      () => gone.head(name),
      () => gone.list('a', null, 10),
      () => gone.put(...named('a/b', 'new')),
    ])
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
  expect([readdirSync(mount), existsSync(join(folder, 'typo'))]).toEqual([[], false]);
  rmSync(mount, { recursive: true });
  renameSync(away, mount);
  for (const there of [mounted, await find(mount)])
    expect(Buffer.from(await there.get(name)).toString()).toBe('kept');
});

it('a copy of the objects can be read, and nothing is written beside them', async () => {
  const copy = join(folder, 'copy');
  const [name, bytes] = named('a/b', 'copied');
  mkdirSync(join(copy, 'a/b'), { recursive: true });
  writeFileSync(join(copy, name), bytes);
  const { objects: copied } = await openObjects(pathToFileURL(copy).href, null, { isCopy: true });
  expect(Buffer.from(await copied.get(name)).toString()).toBe('copied');
  expect(await copied.head(named('a/b', 'other')[0])).toBeNull();
  expect(readdirSync(copy)).toEqual(['a']);
});

it('a place where no folder can be made is refused', async () => {
  await expect(open('/proc/nope/objects')).rejects.toThrow();
});

it('opening a store does not touch its folder; placeMaker makes the folder once, and reports a failure to do so', async () => {
  const fresh = join(folder, 'fresh', 'objects');
  const place = pathToFileURL(fresh).href;
  const { objects: opened } = await openObjects(place, null, { mayMake: false });
  expect(existsSync(join(folder, 'fresh'))).toBe(false);
  await expect(opened.put(...named('a', 'first'))).rejects.toMatchObject({ kind: 'unavailable' });
  const make = placeMaker(place, null);
  await Promise.all([make(), make()]);
  const [name, bytes] = named('a', 'first');
  expect(await opened.put(name, bytes)).toBe(true);
  await make();
  expect(Buffer.from(await opened.get(name)).toString()).toBe('first');
  // A file in its place, so that the folder cannot be made.
  writeFileSync(join(folder, 'file'), '');
  await expect(placeMaker(pathToFileURL(join(folder, 'file', 'objects')).href, null)()).rejects.toMatchObject(
    {
      code: 'ENOTDIR',
    },
  );
});

it('an object is not there before all of it is written and flushed, so a write that is cut off leaves none', async () => {
  const [name, bytes] = named('half-written', 'whole');
  const handle = await openHandle(root);
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
  await handle.close();
  const isThere: unknown[] = [];
  sync.mockImplementation(async () => {
    isThere.push(await objects.head(name), (await objects.list('half-written', null, 10)).names.length);
    throw new Error('no space left');
  });
  await expect(objects.put(name, bytes)).rejects.toMatchObject({ kind: 'unavailable' });
  sync.mockRestore();
  expect(isThere.length).toBeGreaterThan(0);
  expect(new Set(isThere)).toEqual(new Set([null, 0]));
  expect(await objects.head(name)).toBeNull();
  expect(await objects.put(name, bytes)).toBe(true);
});

it('old drafts of a process that died are removed, and recent ones stay', async () => {
  const drafts = join(root, '.drafts');
  for (const [name, ageSeconds] of [
    ['old', 7_200],
    ['new', 0],
  ] as const) {
    writeFileSync(join(drafts, name), bytesOf('half'));
    const at = Date.now() / 1000 - ageSeconds;
    utimesSync(join(drafts, name), at, at);
  }
  const another = await open(root);
  await another.put(...named('drafts', 'written'));
  expect([existsSync(join(drafts, 'old')), existsSync(join(drafts, 'new'))]).toEqual([false, true]);
});

it('a call that hangs in the file system fails in time and keeps its place; if no place is free, calls are refused at once', async () => {
  const hanging = join(folder, 'hanging');
  const patience = { attemptMs: 1_000, pauseMs: 1 };
  const [whole, bytes] = named('mount', 'whole');
  await (await open(hanging)).put(whole, bytes);
  const { objects: mounted } = await openObjects(pathToFileURL(hanging).href, null, { patience });
  // Nothing writes into the pipes, so opening them for reading never ends and cannot be cancelled.
  const pipes = ['one', 'two'].map((text) => named('mount', text)[0]);
  for (const pipe of pipes) expect(spawnSync('mkfifo', [join(hanging, pipe)]).status).toBe(0);
  try {
    const [first = '', second = ''] = pipes;
    await expect(mounted.get(first)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(Buffer.from(await mounted.get(whole)).toString()).toBe('whole');
    await expect(mounted.head(second, AbortSignal.timeout(50))).rejects.toThrow(DOMException);
    for (const call of [() => mounted.get(whole), () => mounted.put(whole, bytes), () => mounted.head(whole)])
      await expect(call()).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('2 calls have not ended'),
      });
  } finally {
    for (const pipe of pipes)
      closeSync(openSync(join(hanging, pipe), constants.O_RDWR | constants.O_NONBLOCK));
  }
  await expect.poll(async () => Buffer.from(await mounted.get(whole)).toString()).toBe('whole');
});

it('while a mount hangs for all stores of a process, threads are left to look up host names', async () => {
  const hanging = join(folder, 'hanging-for-all');
  const [pipe] = named('mount', 'pipe');
  mkdirSync(join(hanging, 'mount'), { recursive: true });
  expect(spawnSync('mkfifo', [join(hanging, pipe)]).status).toBe(0);
  const options = { patience: { attemptMs: 200, pauseMs: 1 }, mayMake: false };
  const place = pathToFileURL(hanging).href;
  const opened = await Promise.all([0, 1, 2].map(() => openObjects(place, null, options)));
  try {
    const calls = await Promise.allSettled(
      opened.flatMap((one) => [one.objects.head(pipe), one.objects.get(pipe)]),
    );
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    const late = () => Promise.reject(new Error('no name is looked up any more'));
    expect(await withinMs(5_000, lookup('localhost'), late)).toMatchObject({ address: expect.any(String) });
  } finally {
    closeSync(openSync(join(hanging, pipe), constants.O_RDWR | constants.O_NONBLOCK));
  }
  await expect.poll(() => objects.list('mount', null, 1)).toBeDefined();
});

it('the places of a thread that ended amid its calls are freed, and no other places', () => {
  const places = Places.of(3);
  const [mine, theirs] = [places.take(), places.take()];
  expect([mine, theirs]).toEqual([0, 1]);
  new Int32Array(places.memory)[1] = 8;
  places.setOverdue(0);
  places.freeAllOf(7);
  expect([places.take(), places.take(), places.take()]).toEqual([1, 2, null]);
  places.freeAllOf(threadId);
  expect(places.take()).toBe(0);
});

it.skipIf(process.getuid?.() !== 0)(
  'files that root writes belong to the owner of the folder, so that the service can still read them',
  async () => {
    const [uid, gid] = [65_534, 65_533];
    const given = join(folder, 'given');
    mkdirSync(given);
    chownSync(given, uid, gid);
    const theirs = await open(given);
    const [name, bytes] = named('a/b', 'bytes');
    await theirs.put(name, bytes);
    const made = readdirSync(given, { recursive: true, encoding: 'utf8' }).sort();
    expect(made).toEqual(['.drafts', 'a', 'a/b', name]);
    for (const one of made)
      expect([one, statSync(join(given, one))]).toEqual([one, expect.objectContaining({ uid, gid })]);
  },
);
