import { expect, it } from 'vitest';
import { StoreError } from '../ports/store.ts';
import { LastKnown } from './last-known.ts';

const gone = async () => {
  throw new StoreError('unavailable', 'gone');
};

it('while storage is unavailable, the last text is served with its age, for 30 s at most', async () => {
  let nowMs = 0;
  const known = new LastKnown(30, () => nowMs);
  await expect(known.get('a', gone)).rejects.toThrow('gone');
  expect(await known.get('a', async () => 'one')).toEqual({ text: 'one', ageSeconds: 0 });
  nowMs = 500;
  expect(await known.get('a', gone)).toEqual({ text: 'one', ageSeconds: 1 });
  await expect(known.get('b', gone)).rejects.toThrow('gone');
  nowMs = 30_000;
  expect(await known.get('a', gone)).toEqual({ text: 'one', ageSeconds: 30 });
  nowMs = 30_001;
  await expect(known.get('a', gone)).rejects.toThrow('gone');
});

it('a text that storage no longer has is forgotten', async () => {
  const known = new LastKnown(30, () => 0);
  await known.get('a', async () => 'one');
  const missing = async () => {
    throw new Error('No such list.');
  };
  await expect(known.get('a', missing)).rejects.toThrow('No such list.');
  await expect(known.get('a', gone)).rejects.toThrow('gone');
});

it('the age of a text counts from the beginning of its read', async () => {
  let nowMs = 0;
  const known = new LastKnown(30, () => nowMs);
  await known.get('a', async () => {
    nowMs = 20_000;
    return 'one';
  });
  expect(await known.get('a', gone)).toEqual({ text: 'one', ageSeconds: 20 });
});
