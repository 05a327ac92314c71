/** The only copy of a private key is on disk before the set names it, whatever fails after that. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findKeyFile, keySourcesOf, replaceFile } from './key-files.ts';

/** What `work` asks of the file system, in order. */
const askedBy = (work: () => void): readonly string[] => {
  const opened = new Map<number, unknown>();
  const asked: string[] = [];
  const { openSync, fsyncSync, renameSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...more) => {
    const file = openSync(path, ...more);
    opened.set(file, path);
    return file;
  });
  vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
    asked.push(`flush ${opened.get(file)}`);
    fsyncSync(file);
  });
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    asked.push(`rename to ${to}`);
    renameSync(from, to);
  });
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
  return asked;
};

it('a secret and a set are flushed with their names, the secret first', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'svc-key-files-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const set = findKeyFile('receipt', { dataDir: folder });
  fs.writeFileSync(set.path, 'old', { mode: 0o600 });
  const secret = join(folder, 'receipt-1.pem');
  const { writeSecret } = keySourcesOf(set, { keyPassphrasePath: null, pkcs11PinPath: null }, () => {});
  const asked = askedBy(() => {
    writeSecret(secret, 'secret');
    replaceFile(set.path, 'new');
  });
  expect(asked).toEqual([
    `flush ${secret}`,
    `flush ${folder}`,
    expect.stringMatching(/^flush .*receipt-keys\.json\..*\.new$/),
    `rename to ${set.path}`,
    `flush ${folder}`,
  ]);
  expect([secret, set.path].map((path) => fs.readFileSync(path, 'utf8'))).toEqual(['secret', 'new']);
});
