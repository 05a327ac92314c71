/** The only copy of a private key is on disk before the set names it, whatever fails after that. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findKeyFile, keySourcesOf, replaceFile } from './key-files.ts';

/** What was asked of the file system, in order. */
const asked = vi.hoisted((): string[] => []);
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const opened = new Map<number, string>();
  return {
    ...fs,
    openSync: (path: string, ...more: [number]) => {
      const file = fs.openSync(path, ...more);
      opened.set(file, path);
      return file;
    },
    fsyncSync: (file: number) => {
      asked.push(`flush ${opened.get(file)}`);
      fs.fsyncSync(file);
    },
    writeFileSync: (path: string, text: string, options?: { flush?: boolean }) => {
      asked.push(`write ${path}${options?.flush === true ? ', flushed' : ''}`);
      fs.writeFileSync(path, text, options);
    },
    renameSync: (from: string, to: string) => {
      asked.push(`rename ${from} to ${to}`);
      fs.renameSync(from, to);
    },
  };
});

it('a secret and a set are flushed with their names, the secret first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const set = findKeyFile('receipt', { dataDir: folder });
  writeFileSync(set.path, 'old', { mode: 0o600 });
  asked.length = 0;
  const secret = join(folder, 'receipt-1.pem');
  keySourcesOf(set, { keyPassphrasePath: null, pkcs11PinPath: null }, () => {}).writeSecret(secret, 'secret');
  replaceFile(set.path, 'new');
  const draft = expect.stringMatching(new RegExp(`^write .*${basename(set.path)}.*, flushed$`));
  expect(asked).toEqual([
    `write ${secret}, flushed`,
    `flush ${folder}`,
    draft,
    expect.stringMatching(/^rename .* to .*receipt-keys\.json$/),
    `flush ${folder}`,
  ]);
  expect([secret, set.path].map((path) => readFileSync(path, 'utf8'))).toEqual(['secret', 'new']);
});
