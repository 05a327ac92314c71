import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeySetError } from '@svc/service';
import { Signers } from '@svc/signers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findKeyFile, keySourcesOf } from './key-files.ts';
import {
  addKey,
  changePassphrase,
  encryptKeys,
  type KeyInFile,
  type KeySetFile,
  makeKey,
  moveFirst,
  readKeySetFile,
  withdrawKey,
} from './key-set-file.ts';
import { parseConfig } from './parse-config.ts';
import { loadSecrets } from './secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-key-set-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PASSPHRASE = 'correct horse battery staple, and some more of it';
const writeSecret = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const open = async ({ passphrase = PASSPHRASE, ...env }: Readonly<Record<string, string>> = {}) => {
  const path = writeSecret('passphrase', `${passphrase}\n`);
  const parsed = parseConfig({ SVC_DATA_DIR: join(folder, 'data'), SVC_KEY_PASSPHRASE_FILE: path, ...env });
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  const { config } = parsed;
  const at = findKeyFile('receipt', config);
  const notes: string[] = [];
  const sources = keySourcesOf(at, config, (what) => notes.push(what));
  const file: KeySetFile = { ...at, purpose: 'receipt', signers: new Signers(), sources };
  const signs = async () => {
    const { receiptKeys } = await loadSecrets(config);
    await receiptKeys.signer.sign(new Uint8Array(1));
    return receiptKeys.signer.kid.split('#')[1];
  };
  return { config, file, notes, signs, load: () => loadSecrets(config) };
};
const summary = (file: KeySetFile) =>
  readKeySetFile(file).map(({ kid, d, private_key: uri }) => [
    kid,
    uri ?? (d === undefined ? null : 'plain'),
  ]);
const modeOf = (path: string) => statSync(path).mode & 0o777;
const thrownBy = async (work: () => Promise<unknown>): Promise<Error> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
};

describe('withdrawKey', () => {
  it('removes the private part, lets the new key sign, and keeps the mode of the file', async () => {
    const { file, load, signs, config } = await open();
    await load();
    chmodSync(file.path, 0o640);
    withdrawKey(file, 'receipt-1', await makeKey(file, 'receipt-7', null));
    expect(summary(file)).toEqual([
      ['receipt-7', 'plain'],
      ['receipt-1', null],
    ]);
    expect(modeOf(file.path)).toBe(process.platform === 'win32' ? modeOf(file.path) : 0o640);
    expect(await signs()).toBe('receipt-7');
    expect(readdirSync(config.dataDir).sort()).toEqual([
      'admin-token',
      'receipt-keys.json',
      'status-keys.json',
    ]);
  });

  it('removes nothing but the private part from the entry', async () => {
    const { file, load } = await open();
    await load();
    const [{ x } = { x: '' }] = readKeySetFile(file);
    withdrawKey(file, 'receipt-1', await makeKey(file, 'receipt-2', null));
    expect(readKeySetFile(file)[1]).toEqual({ kid: 'receipt-1', kty: 'OKP', crv: 'Ed25519', x });
  });
});

describe('an encrypted private key file', () => {
  const begin = async () => {
    const opened = await open();
    await opened.load();
    expect(encryptKeys(opened.file)).toEqual(['receipt-1']);
    return { ...opened, pem: join(opened.config.dataDir, 'receipt-1.pem') };
  };

  it('takes over the key of a plain set, which still signs, and leaves no readable private key', async () => {
    const opened = await open();
    await opened.load();
    const [before = { d: '', x: '' }] = readKeySetFile(opened.file);
    const { file, signs, pem, config } = await begin();
    expect(summary(file)).toEqual([['receipt-1', 'file:receipt-1.pem']]);
    expect(readKeySetFile(file)[0]?.x).toBe(before.x);
    expect(await signs()).toBe('receipt-1');
    expect(modeOf(pem)).toBe(0o600);
    const raw = Buffer.from(before.d ?? '', 'base64url');
    for (const name of readdirSync(config.dataDir)) {
      const text = readFileSync(join(config.dataDir, name));
      const der = Buffer.from(text.toString().replace(/-----[^-]+-----|\s/g, ''), 'base64');
      for (const bytes of [text, der]) expect([name, bytes.includes(raw)]).toEqual([name, false]);
      expect(text.includes(before.d ?? '')).toBe(false);
    }
    expect(encryptKeys(file)).toEqual([]);
  });

  it('is PKCS#8 that OpenSSL reads, and a file made by OpenSSL is read as well', async () => {
    const { file, pem, signs } = await begin();
    const key = createPrivateKey({ key: readFileSync(pem), format: 'pem', passphrase: PASSPHRASE });
    expect(key.export({ format: 'jwk' }).x).toBe(readKeySetFile(file)[0]?.x);
    rmSync(pem);
    writeSecret('data/receipt-1.pem', OF_OPENSSL.pem);
    const [entry] = readKeySetFile(file);
    withdrawOnly(file, { ...entry, kid: 'receipt-1', x: OF_OPENSSL.x });
    expect(await signs()).toBe('receipt-1');
  });

  it('under another passphrase refuses the start with an error that names path and variable, but no secret', async () => {
    await begin();
    const wrong = 'another passphrase that is long enough, but wrong';
    const { load } = await open({ passphrase: wrong });
    const { message } = await thrownBy(load);
    expect(message).toMatch(
      /receipt-1\.pem cannot be decrypted: the passphrase in SVC_KEY_PASSPHRASE_FILE is not/,
    );
    for (const secret of [wrong, PASSPHRASE]) expect(message).not.toContain(secret);
  });

  it.each([
    ['too short', { passphrase: 'hunter2' }, /passphrase must have 32 to 1024 bytes/],
    ['not configured', { SVC_KEY_PASSPHRASE_FILE: '' }, /needs SVC_KEY_PASSPHRASE_FILE/],
    [
      'itself in the variable, and not the path of its file,',
      { SVC_KEY_PASSPHRASE_FILE: 'hunter2 and more words' },
      /SVC_KEY_PASSPHRASE_FILE: \(not shown: .* must name a file, .*\) cannot be read/,
    ],
    ['not there', { SVC_KEY_PASSPHRASE_FILE: '/nowhere' }, /\/nowhere cannot be read \(ENOENT\)/],
  ])('whose passphrase is %s refuses the start', async (_, env, expected) => {
    await begin();
    const { load } = await open(env);
    const error = await thrownBy(load);
    expect(error).toBeInstanceOf(KeySetError);
    expect(error.message).toMatch(expected);
    expect(error.message).not.toContain('hunter2');
  });

  it('with another key than the published one, of another type, unencrypted or damaged refuses the start', async () => {
    const { load, pem } = await begin();
    const pemOf = (kind: 'ed25519' | 'x25519', isEncrypted = true): string => {
      const { privateKey } =
        kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
      const secrecy = isEncrypted ? { cipher: 'aes-256-cbc', passphrase: PASSPHRASE } : {};
      return privateKey.export({ type: 'pkcs8', format: 'pem', ...secrecy }).toString();
    };
    for (const [text, expected] of [
      [pemOf('ed25519'), /its key is not the one of x/],
      [pemOf('x25519'), /must be Ed25519/],
      [pemOf('ed25519', false), /is not an encrypted PKCS#8 file/],
      [readFileSync(pem, 'utf8').replace(/\n.{8}/, '\nAAAAAAAA'), /cannot be decrypted/],
    ] as const) {
      writeFileSync(pem, text);
      expect((await thrownBy(load)).message).toMatch(expected);
    }
  });

  it.runIf(process.platform !== 'win32')(
    'that others may read refuses the start in production, and so does such a passphrase file',
    async () => {
      const { pem, config } = await begin();
      for (const path of [pem, join(folder, 'passphrase')]) {
        chmodSync(path, 0o644);
        const load = () => loadSecrets({ ...config, env: 'production' });
        expect((await thrownBy(load)).message).toContain(`${path}: everybody on this machine may read`);
        chmodSync(path, 0o600);
      }
    },
  );

  it('is re-encrypted under a new passphrase, and an interrupted change is completed', async () => {
    const { file, signs } = await begin();
    addKey(file, await makeKey(file, 'receipt-2', null));
    const next = writeSecret('next', 'the next passphrase, which is long enough too\n');
    expect(changePassphrase([file], next)).toHaveLength(2);
    // Done halfway: one of the two files has the former passphrase.
    withdrawKey(file, 'receipt-2', null);
    addKey(file, await makeKey(file, 'receipt-3', 'file:'));
    expect(changePassphrase([file], next)).toHaveLength(2);
    await expect(signs()).rejects.toThrow(/cannot be decrypted/);
    writeSecret('passphrase', readFileSync(next, 'utf8'));
    const { load } = await open({ passphrase: readFileSync(next, 'utf8').trim() });
    expect((await load()).receiptKeys.published).toHaveLength(3);
  });
});

describe('key rotation', () => {
  it('makes the next key in the same place, publishes it, lets it sign, and ends the previous one', async () => {
    const { file, load, signs, config } = await open();
    await load();
    encryptKeys(file);
    addKey(file, await makeKey(file, 'receipt-2', null));
    expect(summary(file)).toEqual([
      ['receipt-1', 'file:receipt-1.pem'],
      ['receipt-2', 'file:receipt-2.pem'],
    ]);
    expect(await signs()).toBe('receipt-1');
    moveFirst(file, 'receipt-2');
    expect(await signs()).toBe('receipt-2');
    withdrawKey(file, 'receipt-1', null);
    expect(summary(file)).toEqual([
      ['receipt-2', 'file:receipt-2.pem'],
      ['receipt-1', null],
    ]);
    expect(existsSync(join(config.dataDir, 'receipt-1.pem'))).toBe(false);
    expect((await load()).receiptKeys.published.map(({ canSign }) => canSign)).toEqual([true, false]);
  });

  it.skipIf(process.platform === 'win32')(
    'makes a key file with the owner, group and mode of the key set',
    async () => {
      const { file, load, config } = await open();
      await load();
      encryptKeys(file);
      chmodSync(file.path, 0o640);
      if (process.getuid?.() === 0) chownSync(file.path, 4_321, 1_234);
      addKey(file, await makeKey(file, 'receipt-2', null));
      const rightsOf = (path: string) => {
        const { uid, gid, mode } = statSync(path);
        return { uid, gid, mode: mode & 0o777 };
      };
      const rights = rightsOf(file.path);
      expect(rights.mode).toBe(0o640);
      expect(rightsOf(join(config.dataDir, 'receipt-2.pem'))).toEqual(rights);
    },
  );

  it('creates a set if there is none, and reuses a key file that an interrupted attempt left', async () => {
    const { file, signs, config } = await open({ SVC_RECEIPT_KEYS: join(folder, 'keys.json') });
    const cutOff = await makeKey(file, 'receipt-1', 'file:');
    const key = await makeKey(file, 'receipt-1', 'file:');
    expect(key).toEqual(cutOff);
    addKey(file, key);
    expect(modeOf(file.path)).toBe(0o600);
    expect(await signs()).toBe('receipt-1');
    expect(config.receiptKeysPath).toBe(file.path);
  });

  it('says what is missing if a set cannot be written or read, and leaves nothing behind', async () => {
    const nowhere = join(folder, 'nowhere');
    const { file } = await open({ SVC_RECEIPT_KEYS: join(nowhere, 'keys.json') });
    const expected = `the folder ${nowhere} does not exist. Make it (mkdir -m 700 ${nowhere})`;
    await expect(makeKey(file, 'receipt-1', 'file:')).rejects.toThrow(expected);
    const key = await makeKey(file, 'receipt-1', null);
    expect(() => addKey(file, key)).toThrow(expected);
    expect(existsSync(nowhere)).toBe(false);
    mkdirSync(file.path, { recursive: true });
    expect(() => readKeySetFile(file)).toThrow(/keys\.json cannot be read \(it is not a file\)/);
  });
});

/** Replaces the set by one with only this key, for example with another `x` under a kid of the set. */
const withdrawOnly = (file: KeySetFile, key: KeyInFile): void => {
  writeFileSync(file.path, JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', ...key }] }));
};

/** Made by OpenSSL 3 with `openssl genpkey -algorithm ed25519 | openssl pkcs8 -topk8 -scrypt` and PASSPHRASE. */
const OF_OPENSSL = {
  x: 'n1wwq7AiQ_W7kz0WdHCUOD2a5hSURzwLOO0wyECqoQU',
  pem: `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAg/ueiL4zh2nAICQAAC
AQgCAQEwHQYJYIZIAWUDBAEqBBCSKSepeEtn2pfvePq6HSRiBEA/ogStce8JYfEr
/2xGwcGhxyuliSCyRpxu7mAsSLIleBfHZMJb4QyHZYndwSA6T9igF/qj8MT0Y2Yz
r0peqGkO
-----END ENCRYPTED PRIVATE KEY-----
`,
};
