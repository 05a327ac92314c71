import { expect, it } from 'vitest';
import { FaultList } from './fault-list.ts';

const kindsOf = (...problems: string[]) => {
  const list = new FaultList(true);
  for (const problem of problems) list.add({ check: 'rows', problem } as never);
  return list.list().map(({ problem, count }) => [problem, count]);
};

it('faults of one kind differ in words with digits, colons or dots alone', () => {
  expect(kindsOf('row 1 of did:web:a is bad', 'row 27 of did:web:b is bad', 'row is bad')).toEqual([
    ['row … of … is bad', 2],
    ['row is bad', 1],
  ]);
});

it('a problem with a word of a million letters is gone through once', () => {
  const word = 'x'.repeat(1_000_000);
  expect(kindsOf(`${word} 1`)).toEqual([[`${word} …`, 1]]);
});
