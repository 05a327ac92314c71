/**
 * The only copy of a private key is on disk before the set names it, whatever fails later. An earlier failure leaves no
 * file.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findKeyFile, keySourcesOf, replaceFile } from './key-files.ts';
import { parseConfig } from './parse-config.ts';
import { loadSecrets } from './secrets.ts';

/** The file system calls of `work`, in order. */
const askedBy = async (work: () => void): Promise<readonly string[]> => {
  const opened = new Map<number, unknown>();
  const asked: string[] = [];
  const { openSync, fsyncSync, renameSync, linkSync } = fs;
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
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    asked.push(`link to ${to}`);
    linkSync(from, to);
  });
  await withSpies(work);
  return asked;
};

const withSpies = async (work: () => unknown): Promise<void> => {
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
};

/** Each file that `work` writes can be opened, but has room only for its first byte. */
const onFullDisk = (work: () => unknown): Promise<void> => {
  const { writeFileSync } = fs;
  vi.spyOn(fs, 'writeFileSync').mockImplementation((path, text, options) => {
    writeFileSync(path, String(text).slice(0, 1), options);
    throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  });
  return withSpies(work);
};

const createFolder = (): string => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'svc-key-files-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
};

const createSet = () => {
  const folder = createFolder();
  const set = findKeyFile('receipt', { dataDir: folder });
  fs.writeFileSync(set.path, 'old', { mode: 0o600 });
  const secret = join(folder, 'receipt-1.pem');
  const { writeSecret } = keySourcesOf(set, { keyPassphrasePath: null, pkcs11PinPath: null }, () => {});
  return { folder, set, secret, writeSecret };
};

it('a secret and a key set are flushed with their folder, the secret first', async () => {
  const { folder, set, secret, writeSecret } = createSet();
  const asked = await askedBy(() => {
    writeSecret(secret, 'secret');
    replaceFile(set.path, 'new');
  });
  expect(asked).toEqual([
    expect.stringMatching(/^flush .*receipt-1\.pem\..*\.new$/),
    `link to ${secret}`,
    `flush ${folder}`,
    expect.stringMatching(/^flush .*receipt-keys\.json\..*\.new$/),
    `rename to ${set.path}`,
    `flush ${folder}`,
  ]);
  expect([secret, set.path].map((path) => fs.readFileSync(path, 'utf8'))).toEqual(['secret', 'new']);
});

it('files that a full disk cut off are removed, and are written once there is room', async () => {
  const { folder, set, secret, writeSecret } = createSet();
  await onFullDisk(() => {
    expect(() => writeSecret(secret, 'secret')).toThrow('ENOSPC');
    expect(() => replaceFile(set.path, 'new')).toThrow('full');
  });
  expect(fs.readdirSync(folder)).toEqual(['receipt-keys.json']);
  expect(fs.readFileSync(set.path, 'utf8')).toBe('old');
  writeSecret(secret, 'secret');
  replaceFile(set.path, 'new');
  expect([secret, set.path].map((path) => fs.readFileSync(path, 'utf8'))).toEqual(['secret', 'new']);
  expect(fs.readdirSync(folder)).toEqual(['receipt-1.pem', 'receipt-keys.json']);
});

it('a secret never replaces an existing file', () => {
  const { folder, set, secret, writeSecret } = createSet();
  fs.writeFileSync(secret, 'another');
  expect(() => writeSecret(secret, 'secret')).toThrow('EEXIST');
  expect(fs.readFileSync(secret, 'utf8')).toBe('another');
  expect(fs.readdirSync(folder)).toEqual(['receipt-1.pem', 'receipt-keys.json']);
  expect(fs.readFileSync(set.path, 'utf8')).toBe('old');
});

it('a draft left by a killed process with the same id does not prevent a write', () => {
  const { set } = createSet();
  fs.writeFileSync(`${set.path}.${process.pid}.new`, 'half');
  replaceFile(set.path, 'new');
  expect(fs.readFileSync(set.path, 'utf8')).toBe('new');
});

it('a key set whose first writing a full disk cut off is removed, and is made once there is room', async () => {
  const folder = createFolder();
  const parsed = parseConfig({ SVC_DATA_DIR: folder });
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  await onFullDisk(() => expect(loadSecrets(parsed.config)).rejects.toThrow('ENOSPC'));
  expect(fs.readdirSync(folder)).toEqual([]);
  expect((await loadSecrets(parsed.config)).receiptKeys.published.map(({ canSign }) => canSign)).toEqual([
    true,
  ]);
});
