import { chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openFolder } from '../src/index.ts';
import { describeFenceStore } from './contract.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-fence-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describeFenceStore('a folder', () => openFolder(mkdtempSync(join(root, 'one-'))));

it.skipIf(process.getuid?.() !== 0)(
  'what root writes belongs to the owner of the folder, so that the service goes on reading it',
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
