import { expect, it } from 'vitest';
import { FaultList } from './fault-list.ts';

const kindsOf = (...problems: string[]) => {
  const list = new FaultList(true);
  for (const problem of problems) list.add({ check: 'rows', problem } as never);
  return list.list().map(({ problem, count }) => [problem, count]);
};

it('faults that differ only in words with digits, colons or dots count as one kind', () => {
  expect(kindsOf('row 1 of did:web:a is bad', 'row 27 of did:web:b is bad', 'row is bad')).toEqual([
    ['row … of … is bad', 2],
    ['row is bad', 1],
  ]);
});

it('a problem with a word of a million letters is counted like others', () => {
  const word = 'x'.repeat(1_000_000);
  expect(kindsOf(`${word} 1`)).toEqual([[`${word} …`, 1]]);
});
