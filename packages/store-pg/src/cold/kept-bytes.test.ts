import { type ObjectRange, type ObjectStore, ObjectStoreError } from '@svc/service';
import { expect, it } from 'vitest';
import { keepingRead } from './kept-bytes.ts';

const rangeAt = (offset: number, length = 4): ObjectRange => ({ offset, length, sha256: `of ${offset}` });

/** What was asked of the store. */
const createStore = (fails = false) => {
  const asked: string[] = [];
  const getRange: ObjectStore['getRange'] = async (name, { offset, length }) => {
    asked.push(`${name} ${offset}`);
    if (fails) throw new ObjectStoreError('wrong-bytes', 'another hash');
    return new Uint8Array(length).fill(offset);
  };
  return { asked, getRange };
};

it('what was read is not read again, in memory that a thread shares, as long as it is among what was used last', async () => {
  const { asked, getRange } = createStore();
  const read = keepingRead({ getRange }, 8);
  for (const offset of [1, 2, 1, 3, 1, 2]) {
    const bytes = await read('x', rangeAt(offset));
    expect([...bytes]).toEqual([offset, offset, offset, offset]);
    expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
  }
  // The 2 gave way to the 3, and came back in its place.
  expect(asked).toEqual(['x 1', 'x 2', 'x 3', 'x 2']);
});

it('what is larger than all that is kept is read, and keeps nothing else out', async () => {
  const { asked, getRange } = createStore();
  const read = keepingRead({ getRange }, 8);
  for (const [offset, length] of [
    [1, 9],
    [2, 4],
    [2, 4],
  ] as const)
    expect(await read('x', rangeAt(offset, length))).toHaveLength(length);
  expect(asked).toEqual(['x 1', 'x 2']);
});

it('other bytes of an object, and bytes of another hash, are not what is kept', async () => {
  const { asked, getRange } = createStore();
  const read = keepingRead({ getRange });
  await read('x', rangeAt(1));
  await read('x', { ...rangeAt(1), sha256: 'another' });
  await read('x', rangeAt(1, 5));
  await read('y', rangeAt(1));
  expect(asked).toHaveLength(4);
});

it('what could not be read, or was not what it must be, is not kept', async () => {
  const { asked, getRange } = createStore(true);
  const read = keepingRead({ getRange });
  for (const _ of [1, 2]) await expect(read('x', rangeAt(1))).rejects.toThrow('another hash');
  expect(asked).toHaveLength(2);
});
