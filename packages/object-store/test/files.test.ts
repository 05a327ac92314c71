import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { openObjects } from '../src/index.ts';
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

it('a link in the place of a folder or an object is not followed', async () => {
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

it('what a process that died left half written is no object, and is cleared away when it is old', async () => {
  const drafts = join(root, '.drafts');
  for (const [name, ageSeconds] of [
    ['old', 7_200],
    ['new', 0],
  ] as const) {
    writeFileSync(join(drafts, name), bytesOf('half'));
    const at = Date.now() / 1000 - ageSeconds;
    utimesSync(join(drafts, name), at, at);
  }
  await open(root);
  expect([existsSync(join(drafts, 'old')), existsSync(join(drafts, 'new'))]).toEqual([false, true]);
});
