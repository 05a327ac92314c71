import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

describe('development secrets', () => {
  it('are made once, in files that only their owner can read', async () => {
    const config = configOf({});
    const first = await loadSecrets(config);
    const second = await loadSecrets(config);
    expect(second.adminToken).toBe(first.adminToken);
    expect(second.receiptKeys.published).toEqual(first.receiptKeys.published);
    for (const name of ['receipt-keys.json', 'status-keys.json', 'admin-token'])
      expect([name, modeOf(join(config.dataDir, name))]).toEqual([name, 0o600]);
  });

  it('include keys of the sandbox if there is one; a lost key file is replaced under another kid', async () => {
    expect((await loadSecrets(configOf({}))).sandboxKeys).toBeNull();
    const config = configOf({ SVC_DEMO: '1' });
    const kidOf = async () => (await loadSecrets(config)).sandboxKeys?.signer.kid;
    const first = await kidOf();
    expect(first).toMatch(/^did:web:localhost%3A8080:org:sandbox#key-[1-9][0-9]*$/);
    expect(await kidOf()).toBe(first);
    rmSync(join(config.dataDir, 'sandbox-keys.json'));
    expect(await kidOf()).not.toBe(first);
  });

  it.runIf(process.platform !== 'win32')(
    'are in a folder that others may traverse but not list',
    async () => {
      const config = configOf({ SVC_DATA_DIR: join(folder, 'not', 'yet', 'data') });
      const umask = process.umask(0o022);
      await loadSecrets(config);
      process.umask(umask);
      expect(modeOf(config.dataDir)).toBe(0o711);
    },
  );

  it('that cannot be stored fail with an error that names SVC_DATA_DIR', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, join(file, 'data')]) {
      const load = () => loadSecrets(configOf({ SVC_DATA_DIR: dataDir }));
      await expect(load()).rejects.toThrow(DataDirError);
      await expect(load()).rejects.toThrow(`SVC_DATA_DIR ${dataDir} cannot be used (not a folder)`);
    }
  });

  it.runIf(process.platform === 'linux')('fail with ENOENT if no folder can be made', async () => {
    await expect(loadSecrets(configOf({ SVC_DATA_DIR: '/proc/none/data' }))).rejects.toThrow(/\(ENOENT\)/);
  });
});

describe('a configured key file', () => {
  it.each([
    ['SVC_RECEIPT_KEYS', 'receipt-1'],
    ['SVC_STATUS_KEYS', 'status-1'],
  ])(
    'in %s that is missing, not JSON or without a key refuses the start with an error that names variable and path',
    async (name, kid) => {
      const path = join(folder, 'keys.json');
      const load = () => loadSecrets(configOf({ [name]: path }));
      await expect(load()).rejects.toThrow(KeySetError);
      await expect(load()).rejects.toThrow(`${name}: ${path} cannot be read (ENOENT)`);
      await expect(load()).rejects.toThrow(kid);
      writeFileSync(path, 'hunter2');
      chmodSync(path, 0o600);
      await expect(load()).rejects.toThrow(`${name}: ${path} is not JSON`);
      await expect(load()).rejects.not.toThrow('hunter2');
      writeFileSync(path, '{"keys":[]}');
      await expect(load()).rejects.toThrow(`${name}: ${path}: the set holds no key`);
      expect(existsSync(join(folder, 'data', 'keys.json'))).toBe(false);
    },
  );
});

it.each(['SVC_RECEIPT_KEYS', 'SVC_STATUS_KEYS'])(
  'a key set that is in %s itself, which must name a file, is not shown',
  async (name) => {
    const load = loadSecrets(configOf({ [name]: '{"keys":[{"kty":"OKP","d":"hunter2"}]}' }));
    const message = await load.then(String, (error: Error) => error.message);
    expect(message).toMatch(new RegExp(`^${name}: \\(not shown: .* must name a file, .*\\) cannot be read`));
    expect(message).not.toContain('hunter2');
  },
);

describe.runIf(process.platform !== 'win32')('key files', () => {
  const PRODUCTION = {
    SVC_ENV: 'production',
    SVC_FENCE: 'none',
    SVC_DOMAIN: 'svc.example',
    DATABASE_URL: 'postgres://db.invalid/svc?sslmode=verify-full',
    SVC_ADMIN_TOKEN: 'a'.repeat(32),
  };
  const filesOf = async (modes: Readonly<Record<string, number>>) => {
    const { dataDir } = configOf({});
    await loadSecrets(configOf({}));
    const paths = Object.fromEntries(
      ['receipt', 'status'].map((purpose) => [purpose, join(dataDir, `${purpose}-keys.json`)]),
    );
    for (const [purpose, mode] of Object.entries(modes)) chmodSync(paths[purpose] ?? '', mode);
    return { SVC_RECEIPT_KEYS: paths.receipt ?? '', SVC_STATUS_KEYS: paths.status ?? '' };
  };

  it.each([0o644, 0o604, 0o602, 0o601, 0o777])(
    'that everybody may access are refused in production, with variable and path (mode %o)',
    async (mode) => {
      const files = await filesOf({ status: mode });
      const load = () => loadSecrets(configOf({ ...PRODUCTION, ...files }));
      await expect(load()).rejects.toThrow(KeySetError);
      await expect(load()).rejects.toThrow(
        `SVC_STATUS_KEYS: ${files.SVC_STATUS_KEYS}: everybody on this machine may read or write it (mode 0${mode.toString(8)}); run chmod 600`,
      );
    },
  );

  it('in a folder where everybody may replace them are refused in production, unless the folder is sticky', async () => {
    const files = await filesOf({});
    const folder = dirname(files.SVC_RECEIPT_KEYS);
    const load = () => loadSecrets(configOf({ ...PRODUCTION, ...files }));
    chmodSync(folder, 0o777);
    await expect(load()).rejects.toThrow(
      `SVC_RECEIPT_KEYS: ${files.SVC_RECEIPT_KEYS}: everybody on this machine may put another file in its place (${folder} has mode 0777); run chmod o-w ${folder}`,
    );
    chmodSync(folder, 0o1777);
    expect((await load()).notes).toEqual([]);
  });

  it.each([0o600, 0o400, 0o640, 0o440])(
    'that only the owner and the group may access are accepted in production (mode %o)',
    async (mode) => {
      const files = await filesOf({ receipt: mode, status: mode });
      expect((await loadSecrets(configOf({ ...PRODUCTION, ...files }))).notes).toEqual([]);
    },
  );

  it('that everybody may read are accepted in development, with a note on each', async () => {
    const files = await filesOf({ receipt: 0o644, status: 0o666 });
    const { notes, receiptKeys } = await loadSecrets(configOf(files));
    expect(receiptKeys.signer.kid).toMatch(/#receipt-1$/);
    expect(notes).toEqual([
      expect.stringMatching(/^SVC_RECEIPT_KEYS: .*mode 0644.*chmod 600.*Production refuses/),
      expect.stringMatching(/^SVC_STATUS_KEYS: .*mode 0666.*chmod 600.*Production refuses/),
    ]);
  });
});
