import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLine } from '@svc/cli/command-line';
import { encryptKeys, findKeyFile, keySourcesOf, loadSecrets, parseConfig } from '@svc/config';
import { createLogger, openService } from '@svc/process';
import { Signers } from '@svc/signers';
import { changeServiceDid } from '@svc/store-pg';
import { tamper, withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { keysEncryptCommand, keysRotateCommand } from './keys.ts';
import { keysCompromiseCommand } from './keys-compromise.ts';
import { PROGRAM } from './program.ts';

const database = withDatabase();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
});

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const configOf = (env: Readonly<Record<string, string>>) => {
  const parsed = parseConfig(env);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.config;
};

describe('a new passphrase', () => {
  const PASSPHRASES = [
    'the first passphrase, which is long enough',
    'the next one, which is long enough too',
  ];
  const PURPOSES = ['receipt', 'status', 'key'] as const;

  /** All key sets of a service, each key in an encrypted file with the first passphrase. */
  const begin = async () => {
    const [passphrase = '', next = ''] = PASSPHRASES.map((text, i) => write(`passphrase-${i}`, `${text}\n`));
    const env = { SVC_DATA_DIR: join(folder, 'data'), SVC_KEY_PASSPHRASE_FILE: passphrase, SVC_DEMO: '1' };
    const config = configOf(env);
    await (await loadSecrets(config)).signers.close();
    const files = PURPOSES.map((purpose) => {
      const at = findKeyFile(purpose, config);
      const file = { ...at, purpose, signers: new Signers(), sources: keySourcesOf(at, config, () => {}) };
      const [kid = ''] = encryptKeys(file);
      return { set: at.path, pem: join(env.SVC_DATA_DIR, `${kid}.pem`) };
    });
    const said: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((text) => said.push(text));
    /** Runs the command as `main.ts` does. */
    const change = async (given: Readonly<Record<string, string>> = env) => {
      const line = readLine(PROGRAM, ['keys', 'encrypt', 'receipt', '--new-passphrase-file', next]);
      if (line.kind !== 'command') throw new Error('no command');
      return line.command.run(line.values, given, line.operands[0] ?? '');
    };
    const open = async (under: string) => {
      const secrets = await loadSecrets({ ...config, keyPassphrasePath: under });
      await secrets.signers.close();
      return [secrets.receiptKeys, secrets.statusKeys, secrets.sandboxKeys].map(
        (keys) => keys?.published[0]?.canSign,
      );
    };
    return { env, passphrase, next, files, said, change, open };
  };

  it('is applied to all key sets (Receipts, status lists, sandbox), and the operator is told to put it in place', async () => {
    const { files, next, said, change, open } = await begin();
    expect(await change()).toBe(0);
    for (const { pem } of files) expect(said.join()).toContain(pem);
    expect(said.join()).toContain(
      'Now put the new passphrase into the file that SVC_KEY_PASSPHRASE_FILE names.',
    );
    expect(await open(next)).toEqual([true, true, true]);
  });

  it('is applied to the remaining files after an interruption, whichever files have it already', async () => {
    const { files, next, change, open } = await begin();
    const former = files.map(({ pem }) => readFileSync(pem, 'utf8'));
    for (const [i, { pem }] of files.entries()) {
      await change();
      writeFileSync(pem, former[i] ?? '');
      await expect(open(next)).rejects.toThrow(/cannot be decrypted/);
    }
    await change();
    expect(await open(next)).toEqual([true, true, true]);
  });

  it('is applied to no file unless every key can be opened and every configured set exists', async () => {
    const { env, files, passphrase, said, change, open } = await begin();
    const [, status] = files;
    const former = readFileSync(status?.pem ?? '', 'utf8');
    writeFileSync(status?.pem ?? '', 'damaged');
    await expect(change()).rejects.toThrow(/status-1\.pem/);
    writeFileSync(status?.pem ?? '', former);
    const elsewhere = join(folder, 'elsewhere.json');
    await expect(change({ ...env, SVC_SANDBOX_KEYS: elsewhere })).rejects.toThrow(
      `SVC_SANDBOX_KEYS: ${elsewhere} does not exist`,
    );
    expect(await open(passphrase)).toEqual([true, true, true]);
    expect(said).toEqual([]);
  });
});

describe('key commands on a database', () => {
  let dataDir: string;
  const envOf = () => ({ DATABASE_URL: database.url, SVC_DATA_DIR: dataDir });
  const start = async (env: Readonly<Record<string, string>> = envOf()) => {
    const config = configOf(env);
    const opened = await openService({
      ...{ config, secrets: await loadSecrets(config), databaseUrl: database.url },
      ...{ logger: createLogger('error'), isOperator: true },
    });
    await opened.close();
  };
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-keys-'));
    await start();
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  const setMark = (at: string) => runSql(database.url, `update clock_mark set marked_at = ${at}`);
  afterEach(() => setMark('null'));

  const listCompromised = async () => {
    const text = `select kid from service_key_ends where state = 'compromised' order by kid`;
    return (await runSql<{ kid: string }>(database.url, text)).map(({ kid }) => kid.split('#')[1]);
  };

  it('rotate to a key once it was published for 60 s by the clock of the database, whatever the local clock shows', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now + 120_000);
    await expect(keysRotateCommand.run({}, envOf(), 'receipt-1')).rejects.toThrow(
      'published for less than 60 s',
    );
    vi.mocked(Date.now).mockReturnValue(now - 120_000);
    await tamper(database.url, `update service_keys set first_seen_at = now() - interval '61 seconds'`);
    expect(await keysRotateCommand.run({}, envOf(), 'receipt-1')).toBe(0);
  });

  it('end a leaked key while the clock is in doubt; a repeat afterwards signs the status lists again', async () => {
    const said: string[] = [];
    for (const method of ['log', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((text) => said.push(text));
    await setMark(`now() + interval '1 hour'`);
    expect(await keysCompromiseCommand.run({}, envOf(), 'receipt-1')).toBe(0);
    expect(await listCompromised()).toEqual(['receipt-1']);
    expect(await keysCompromiseCommand.run({}, envOf(), 'status-1')).toBe(1);
    expect(await listCompromised()).toEqual(['receipt-1', 'status-1']);
    expect(said.join('\n')).toMatch(
      /^Status lists could not be signed anew: .*#status-2 is new, .* while the time is in doubt: .*\n.*run this command again/m,
    );
    await setMark('now()');
    expect(await keysCompromiseCommand.run({}, envOf(), 'status-1')).toBe(0);
    expect(said.join('\n')).toContain('0 status lists are signed anew.');
  });

  it('end a leaked key whose successor has another passphrase than the nodes, and exit with 1 until that is corrected', async () => {
    const said: string[] = [];
    for (const method of ['log', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((text) => said.push(text));
    const envWith = (path: string) => ({ ...envOf(), SVC_KEY_PASSPHRASE_FILE: path });
    const ofNodes = envWith(write('of-nodes', 'the passphrase of the nodes, which is long enough\n'));
    const other = envWith(write('other', 'another passphrase, which is long enough\n'));
    const compromise = (env: Readonly<Record<string, string>>) =>
      keysCompromiseCommand.run({}, env, 'receipt-2');
    expect(await keysEncryptCommand.run({}, ofNodes, 'receipt')).toBe(0);
    await start(ofNodes);
    expect(await compromise(other)).toBe(1);
    expect(await listCompromised()).toContain('receipt-2');
    expect(said.join('\n')).toMatch(/^receipt-2 could not be opened here: .*receipt-2\.pem/m);
    expect(await compromise(ofNodes)).toBe(1);
    expect(said.join('\n')).toMatch(
      /^receipt-2 has ended, and the key that is now first in its set cannot sign: .*receipt-3\.pem/m,
    );
    const given = { 'new-passphrase-file': ofNodes.SVC_KEY_PASSPHRASE_FILE };
    expect(await keysEncryptCommand.run(given, other, 'receipt')).toBe(0);
    expect(await compromise(ofNodes)).toBe(0);
  });

  it('keep a key in use whose successor cannot be made, and name a place for it that needs no token', async () => {
    const values = { 'private-key': 'pkcs11:token=none?module-path=/nowhere.so' };
    const path = join(dataDir, 'status-keys.json');
    const before = readFileSync(path, 'utf8');
    await expect(keysCompromiseCommand.run(values, envOf(), 'status-2')).rejects.toThrow(
      /Nothing was changed, and status-2 still signs\. --private-key file: /,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('take a leaked key out of no file if the database is that of another service', async () => {
    const did = 'did:web:another.example';
    await changeServiceDid(database.url, did);
    const path = join(dataDir, 'status-keys.json');
    const before = readFileSync(path, 'utf8');
    await expect(keysCompromiseCommand.run({}, envOf(), 'status-2')).rejects.toThrow(
      `the database belongs to ${did}`,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(await listCompromised()).not.toContain('status-2');
  });
});
