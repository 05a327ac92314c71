/** Guarantees of every store, whatever its implementation. */
import { setImmediate as turn } from 'node:timers/promises';
import type { ObjectStore } from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectName } from '../src/index.ts';
import { sha256Hex } from '../src/names.ts';

export interface Place {
  readonly objects: ObjectStore;
  /** Writes these bytes under the name without using the store. */
  plant(name: string, bytes: Uint8Array): Promise<void>;
}

export const bytesOf = (text: string): Uint8Array => Buffer.from(text);
export const named = (folder: string, text: string): [string, Uint8Array] => [
  objectName(folder, bytesOf(text), 'bin'),
  bytesOf(text),
];

let folders = 0;
/** A new folder for each test. */
export const newFolder = (): string => `contract/f-${folders++}`;

export const describeObjects = (title: string, place: () => Place): void => {
  describe(title, () => {
    it('finds nothing at first, and after a put returns the same bytes, whole or in any part', async () => {
      const { objects } = place();
      const law = fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 5_000 }),
        fc.nat(),
        fc.nat(),
        async (bytes, from, count) => {
          const folder = newFolder();
          const name = objectName(folder, bytes, 'bin');
          expect(await objects.head(name)).toBeNull();
          await expect(objects.get(name)).rejects.toMatchObject({ kind: 'missing' });
          expect(await objects.put(name, bytes)).toBe(true);
          expect(await objects.head(name)).toBe(bytes.length);
          expect(Buffer.compare(await objects.get(name), bytes)).toBe(0);
          const offset = from % bytes.length;
          const length = 1 + (count % (bytes.length - offset));
          const part = bytes.subarray(offset, offset + length);
          const read = await objects.getRange(name, { offset, length, sha256: sha256Hex(part) });
          expect(Buffer.compare(read, part)).toBe(0);
        },
      );
      await fc.assert(law, { numRuns: sampled({ quick: 8, deep: 100 }) });
    });

    it('stores objects of zero bytes and of several megabytes', async () => {
      const { objects } = place();
      for (const bytes of [new Uint8Array(), Buffer.alloc(5_000_001, 'many')]) {
        const name = objectName(newFolder(), bytes, 'bin');
        await objects.put(name, bytes);
        expect(Buffer.compare(await objects.get(name), bytes)).toBe(0);
      }
    });

    it('stores an object once: a put of the same bytes returns false, also after concurrent puts', async () => {
      const { objects } = place();
      const [name, bytes] = named(newFolder(), 'once');
      await Promise.all(Array.from({ length: 6 }, () => objects.put(name, bytes)));
      expect(await objects.put(name, bytes)).toBe(false);
      expect(Buffer.from(await objects.get(name)).toString()).toBe('once');
    });

    it('refuses bytes that do not match the name', async () => {
      const { objects } = place();
      const [name] = named(newFolder(), 'these');
      await expect(objects.put(name, bytesOf('others'))).rejects.toMatchObject({ kind: 'refused' });
      expect(await objects.head(name)).toBeNull();
    });

    it.each([
      ['other bytes of the same length', 'thosE'],
      ['a part of the bytes', 'the'],
      ['more bytes', 'these and more'],
      ['no bytes', ''],
    ])(
      'never reads stored bytes that do not match their name (%s), and the next put replaces them',
      async (_, wrong) => {
        const { objects, plant } = place();
        const [name, bytes] = named(newFolder(), 'these');
        await plant(name, bytesOf(wrong));
        await expect(objects.get(name)).rejects.toMatchObject({ kind: 'wrong-bytes' });
        expect(await objects.put(name, bytes)).toBe(true);
        expect(Buffer.from(await objects.get(name)).toString()).toBe('these');
        expect(await objects.put(name, bytes)).toBe(false);
      },
    );

    it('refuses to read a part with another hash, beyond the end, across the end or with an invalid range', async () => {
      const { objects } = place();
      const [name, bytes] = named(newFolder(), '0123456789');
      await objects.put(name, bytes);
      const sha256 = sha256Hex(bytesOf('345'));
      expect(Buffer.from(await objects.getRange(name, { offset: 3, length: 3, sha256 })).toString()).toBe(
        '345',
      );
      for (const range of [
        { offset: 4, length: 3 },
        { offset: 3, length: 4 },
        { offset: 8, length: 3 },
        { offset: 10, length: 3 },
        { offset: 5_000, length: 3 },
      ])
        await expect(objects.getRange(name, { ...range, sha256 })).rejects.toMatchObject({
          kind: 'wrong-bytes',
        });
      for (const range of [
        { offset: -1, length: 3 },
        { offset: 0, length: 0 },
        { offset: 0.5, length: 1 },
        { offset: 0, length: 2 ** 40 },
      ])
        await expect(objects.getRange(name, { ...range, sha256 })).rejects.toMatchObject({ kind: 'refused' });
    });

    it('refuses names that lead elsewhere or do not have the form of an object name', async () => {
      const { objects } = place();
      const hash = sha256Hex(bytesOf('x'));
      for (const name of [
        ...[`../${hash}.bin`, `a/../../${hash}.bin`, `/a/${hash}.bin`, `a//${hash}.bin`, `.a/${hash}.bin`],
        ...[`${hash}.bin`, `a/${hash}`, `a/${hash}.`, `a/${hash.toUpperCase()}.bin`, `a/${hash}.bin/`],
        ...[`a/${hash}.bin\0`, `A/${hash}.bin`, `a\\${hash}.bin`, `a/${hash}.bin.bin`, ''],
      ]) {
        await expect(objects.put(name, bytesOf('x'))).rejects.toMatchObject({ kind: 'refused' });
        for (const call of [objects.get, objects.head, objects.delete])
          await expect(call(name)).rejects.toMatchObject({ kind: 'refused' });
      }
      for (const folder of ['..', '', 'a/', '/a', 'a/../b', 'A', '.drafts'])
        await expect(objects.list(folder, null, 10)).rejects.toMatchObject({ kind: 'refused' });
    });

    it('lists all objects below a folder once and in order, in pages of any size', async () => {
      const { objects } = place();
      const folder = newFolder();
      const names: string[] = [];
      for (const [i, sub] of ['', '/b', '/b-1', '/b/c', '/b', '', '/a'].entries()) {
        const [name, bytes] = named(folder + sub, `${i}`);
        await objects.put(name, bytes);
        names.push(name);
      }
      const [other, bytes] = named(`${folder}-other`, 'other');
      await objects.put(other, bytes);
      names.sort();
      for (const limit of [1, 3, 1_000]) {
        const listed: string[] = [];
        let after: string | null = null;
        do {
          const page = await objects.list(folder, after, limit);
          expect(page.names.length).toBeLessThanOrEqual(limit);
          listed.push(...page.names);
          after = page.next;
        } while (after !== null);
        expect(listed).toEqual(names);
      }
      for (const limit of [0, 1_001, Number.NaN])
        await expect(objects.list(folder, null, limit)).rejects.toMatchObject({ kind: 'refused' });
    });

    it('deletes an object, and a second deletion is harmless', async () => {
      const { objects } = place();
      const [name, bytes] = named(newFolder(), 'short-lived');
      await objects.put(name, bytes);
      await objects.delete(name);
      await objects.delete(name);
      expect(await objects.head(name)).toBeNull();
      expect(await objects.put(name, bytes)).toBe(true);
    });

    it('starts nothing for a caller that has already aborted', async () => {
      const { objects } = place();
      const [name, bytes] = named(newFolder(), 'unwanted');
      await expect(objects.put(name, bytes, AbortSignal.abort())).rejects.toThrow();
      await turn();
      expect(await objects.head(name)).toBeNull();
    });
  });
};
