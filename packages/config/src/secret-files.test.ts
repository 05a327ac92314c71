import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileVariable, SECRET_NAMES } from './env.ts';
import { readSecretFiles } from './secret-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-secret-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = 'a'.repeat(40);
const write = (text: string, mode = 0o600): string => {
  const path = join(folder, 'secret');
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
};
const faultsOf = (path: string, env: Readonly<Record<string, string>> = {}) =>
  readSecretFiles({ SVC_ADMIN_TOKEN_FILE: path, ...env }).faults;

describe('a secret that is given as a file', () => {
  it.each([TOKEN, `${TOKEN}\n`, `${TOKEN}\r\n`])(
    'is the content of the file without its line end',
    (text) => {
      const path = write(text);
      for (const name of SECRET_NAMES) {
        const { env, faults } = readSecretFiles({ [fileVariable(name)]: path, OTHER: 'x' });
        expect([env, faults]).toEqual([{ [name]: TOKEN, OTHER: 'x' }, []]);
      }
    },
  );

  it('keeps all other characters of the file', () => {
    expect(readSecretFiles({ SVC_ADMIN_TOKEN_FILE: write(` ${TOKEN}\n\n`) }).env).toEqual({
      SVC_ADMIN_TOKEN: ` ${TOKEN}\n`,
    });
  });

  it('is refused if the secret itself is set as well', () => {
    expect(faultsOf(write(TOKEN), { SVC_ADMIN_TOKEN: 'b' })).toEqual([
      'SVC_ADMIN_TOKEN and SVC_ADMIN_TOKEN_FILE are both set: set one of them',
    ]);
  });

  it.each(['', '\n'])('is refused if the file is empty', (text) => {
    expect(faultsOf(write(text))).toEqual([expect.stringContaining('is empty')]);
  });

  it('is refused if the file is missing, larger than 64 KiB, a folder or a pipe', () => {
    expect(faultsOf(join(folder, 'missing'))).toEqual([expect.stringContaining('(ENOENT)')]);
    expect(faultsOf(write('x'.repeat(65_537)))).toEqual([expect.stringContaining('larger than 65536 bytes')]);
    expect(faultsOf(folder)).toEqual([expect.stringContaining('cannot be read')]);
    if (process.platform === 'win32') return;
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(faultsOf(pipe)).toEqual([expect.stringContaining('it is not a file')]);
  });

  it.runIf(process.platform !== 'win32')(
    'is refused with chmod advice if everybody may read the file, but not if only the group may',
    () => {
      expect(faultsOf(write(TOKEN, 0o644))).toEqual([expect.stringMatching(/mode 0644.*chmod 600/)]);
      expect(faultsOf(write(TOKEN, 0o440))).toEqual([]);
    },
  );

  it('appears in no fault', () => {
    const path = write(`${TOKEN}`, 0o644);
    expect(JSON.stringify(faultsOf(path))).not.toContain(TOKEN);
  });

  it.each([
    ['a URL with a password', 'postgres://svc:hunter2@db/svc'],
    ['a URL without its scheme', '//svc:hunter2@db/svc'],
    ['a token', TOKEN],
    ['a text of base64 that begins with a slash', `/${'A'.repeat(20)}/${'B'.repeat(22)}=`],
    ['a text of base64 whose only slash is its first letter', `/${'A'.repeat(42)}=`],
    ['a text longer than any path', 'a'.repeat(5_000)],
  ])('is not shown if it is in the variable itself, which must name a file: %s', (_, secret) => {
    for (const name of SECRET_NAMES) {
      const { faults } = readSecretFiles({ [fileVariable(name)]: secret });
      expect(faults).toEqual([
        expect.stringMatching(
          new RegExp(
            `^${fileVariable(name)} \\(not shown: .* must name a file, .*\\) cannot be read \\(E[A-Z]+\\)$`,
          ),
        ),
      ]);
      expect(faults[0]).not.toContain(secret.slice(0, 20));
      expect(faults[0]).not.toContain('hunter2');
    }
  });

  it('is not read if its variable is not needed', () => {
    const { env, faults } = readSecretFiles({ SVC_ADMIN_TOKEN_FILE: join(folder, 'missing') }, [
      'DATABASE_URL',
    ]);
    expect([env, faults]).toEqual([{ SVC_ADMIN_TOKEN_FILE: join(folder, 'missing') }, []]);
  });
});
