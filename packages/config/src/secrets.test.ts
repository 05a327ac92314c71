import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeySetError } from '@svc/service';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from './config.ts';
import { DataDirError } from './data-dir.ts';
import { parseConfig } from './parse-config.ts';
import { loadSecrets } from './secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configOf = (env: Readonly<Record<string, string>>): Config => {
  const parsed = parseConfig({ SVC_DATA_DIR: join(folder, 'data'), ...env });
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.config;
};
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('secrets of development', () => {
  it('are made once, each readable by its owner alone', () => {
    const config = configOf({});
    const first = loadSecrets(config);
    const second = loadSecrets(config);
    expect(second.adminToken).toBe(first.adminToken);
    expect(second.receiptKeys.published).toEqual(first.receiptKeys.published);
    for (const name of ['receipt-keys.json', 'status-keys.json', 'admin-token'])
      expect([name, modeOf(join(config.dataDir, name))]).toEqual([name, 0o600]);
  });

  it('hold the sandbox’s keys where there is a sandbox; a lost file is replaced under another kid', () => {
    expect(loadSecrets(configOf({})).sandboxKeys).toBeNull();
    const config = configOf({ SVC_DEMO: '1' });
    const kidOf = () => loadSecrets(config).sandboxKeys?.signer.kid;
    const first = kidOf();
    expect(first).toMatch(/^did:web:localhost%3A8080:org:sandbox#key-[1-9][0-9]*$/);
    expect(kidOf()).toBe(first);
    rmSync(join(config.dataDir, 'sandbox-keys.json'));
    expect(kidOf()).not.toBe(first);
  });

  it.runIf(process.platform !== 'win32')('lie in a folder that others may pass through, not list', () => {
    const config = configOf({ SVC_DATA_DIR: join(folder, 'not', 'yet', 'data') });
    const umask = process.umask(0o022);
    loadSecrets(config);
    process.umask(umask);
    expect(modeOf(config.dataDir)).toBe(0o711);
  });

  it('name SVC_DATA_DIR when it cannot be used', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, join(file, 'data')]) {
      const load = () => loadSecrets(configOf({ SVC_DATA_DIR: dataDir }));
      expect(load).toThrow(DataDirError);
      expect(load).toThrow(`SVC_DATA_DIR ${dataDir} cannot be used (not a folder)`);
    }
  });

  it.runIf(process.platform === 'linux')('end where no folder can be made', () => {
    expect(() => loadSecrets(configOf({ SVC_DATA_DIR: '/proc/none/data' }))).toThrow(/\(ENOENT\)/);
  });
});

describe('configured key files', () => {
  it.each([
    ['SVC_RECEIPT_KEYS', 'receipt-1'],
    ['SVC_STATUS_KEYS', 'status-1'],
  ])('%s: what is wrong is said with the variable, the path and what is expected', (name, kid) => {
    const path = join(folder, 'keys.json');
    const load = () => loadSecrets(configOf({ [name]: path }));
    expect(load).toThrow(KeySetError);
    expect(load).toThrow(`${name}: ${path} cannot be read (ENOENT)`);
    expect(load).toThrow(kid);
    writeFileSync(path, 'hunter2');
    chmodSync(path, 0o600);
    expect(load).toThrow(`${name}: ${path} is not JSON`);
    expect(load).not.toThrow('hunter2');
    writeFileSync(path, '{"keys":[]}');
    expect(load).toThrow(`${name}: ${path}: the set holds no key`);
    expect(existsSync(join(folder, 'data', 'keys.json'))).toBe(false);
  });
});
