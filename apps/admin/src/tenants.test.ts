import { readLine } from '@svc/cli/command-line';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from './program.ts';

/** As `main.ts` runs it. */
const run = async (env: Readonly<Record<string, string>>, ...words: string[]): Promise<number> => {
  const line = readLine(PROGRAM, words);
  if (line.kind !== 'command') throw new Error('no command');
  return line.command.run(line.values, env, line.operands[0] ?? '');
};
const create = ['org', 'create', 'x', '--name', 'X'];
const TOKEN = { SVC_ADMIN_TOKEN: 'test-admin-token-0123456789abcdefghij' };

describe('what is registered over the API', () => {
  it('is refused without the admin token, before anything is asked', () =>
    expect(run({}, ...create)).rejects.toThrow('neither SVC_ADMIN_TOKEN nor SVC_ADMIN_TOKEN_FILE is set'));

  it('is not sent where the token could be read on the way', () =>
    expect(run(TOKEN, ...create, '--api', 'http://svc.example')).rejects.toThrow('must be https'));

  it('says whom it could not reach', () =>
    expect(run(TOKEN, ...create, '--api', 'http://127.0.0.1:1')).rejects.toThrow(
      'http://127.0.0.1:1 did not answer',
    ));
});
