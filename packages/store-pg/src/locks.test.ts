import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LOCK_SPACES } from './locks.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const spaces = Object.values(LOCK_SPACES);

it('every advisory lock of the database functions is in a space of LOCK_SPACES', () => {
  const schema = read('../schema.sql');
  const taken = [...schema.matchAll(/(?:advisory_\w*lock(?:_shared)?|svc_take_lock)\((\d+),/g)].map(numberOf);
  const listed = [...schema.matchAll(/^ +\((\d+), (?:hashtext|svc_day_number)\(/gm)].map(numberOf);
  expect(new Set(taken).size).toBeGreaterThan(7);
  const { principal, day, entitlement, bindings, idempotencyKeys } = LOCK_SPACES;
  expect(new Set(listed)).toEqual(new Set([principal, day, entitlement, bindings, idempotencyKeys]));
  expect([...taken, ...listed].filter((space) => !spaces.includes(space as never))).toEqual([]);
});

it('no source file contains a literal number of an advisory lock', () => {
  const files = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((file) => /advisory_\w*lock\w*\(\d/.test(read(file)))).toEqual([]);
});

it('the lock spaces have different numbers, and docs/operations.md names their range', () => {
  expect(new Set(spaces).size).toBe(spaces.length);
  const operations = read('../../../docs/operations.md');
  expect(operations).toContain(`with a first key of 1 to ${Math.max(...spaces)} belong to the service`);
});

function numberOf([, digits]: RegExpMatchArray): number {
  return Number(digits);
}
