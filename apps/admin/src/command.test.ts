import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLine } from '@svc/cli/command-line';
import { StoreError } from '@svc/service';
import { DeadlineError, ReplacedError } from '@svc/store-pg';
import { afterAll, expect, it } from 'vitest';
import { describeError } from './command.ts';
import { PROGRAM } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-admin-'));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc', SVC_DATA_DIR: folder };

/** The text that `main.ts` writes about the error that ends a command. */
const failureOf = async (...words: string[]): Promise<string> => {
  const line = readLine(PROGRAM, words);
  if (line.kind !== 'command') throw new Error('no command');
  const run = async () => line.command.run(line.values, env, line.operands[0] ?? '');
  return run().then(String, (error: unknown) => describeError(error, env).trim());
};

it.each(['fsck', 'migrate', 'keys', 'clock', 'clock repair', 'service-did', 'restore withheld'])(
  'a database that does not answer is named, without its password: %s',
  async (name) => {
    expect(await failureOf(...name.split(' '))).toMatch(
      /^DATABASE_URL: 127\.0\.0\.1:1\/svc cannot be reached: .*ECONNREFUSED/,
    );
  },
);

it('every other error of a store is shown unchanged', () => {
  class ColdReadError extends StoreError {}
  const cause = new Error('the bucket is away');
  for (const error of [
    new StoreError('refused', 'no right', { cause }),
    new StoreError('unavailable', 'its lock is lost'),
    new StoreError('unavailable', 'no answer within 2200 ms', { cause: new DeadlineError('late') }),
    new StoreError('unavailable', 'the server was replaced', { cause: new ReplacedError('replaced') }),
    new ColdReadError('unavailable', 'the day cannot be read', { cause }),
  ])
    expect(describeError(error, env)).toBe(error.message);
});

it.each(['p@ss', 'p@s@', 'p/@ss', 'p#ss', 'p?ss', 'p@s?x', '12?34', '@'])(
  'no part of a password is shown, whatever its characters: %s',
  (password) => {
    const given = { DATABASE_URL: `postgres://svc:${password}@db.internal:5432/svc?sslmode=verify-full` };
    const error = new StoreError('unavailable', 'no route', { cause: new Error('no route') });
    expect(describeError(error, given)).toBe(
      'DATABASE_URL: db.internal:5432/svc cannot be reached: no route',
    );
  },
);
