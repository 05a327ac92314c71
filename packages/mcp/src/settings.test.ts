import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrincipalKey } from '@svc/sdk-principal';
import { afterAll, expect, it } from 'vitest';
import { createServer } from './server.ts';
import { readSettings, SettingsError, USAGE } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
};
const SVC_PRINCIPAL_KEY = 'dk_principal_secretsecret';
const at = { SVC_URL: 'https://svc.example', SVC_PRINCIPAL_KEY };
const SVC_PRINCIPAL_KID = 'did:web:svc.example:org:acme#key-1';

type Refused = readonly [what: string, args: string[], env: Record<string, string>, said: string];

it.each<Refused>([
  ['an unknown option', ['--wriite'], {}, '--wriite'],
  ['--write without SVC_URL', ['--write'], { SVC_DID: 'did:web:svc.example' }, '--write needs SVC_URL'],
  ['--confirm-by-token without --write', ['--confirm-by-token'], at, 'goes with --write'],
  [
    'a relying party without the DID of its service',
    [],
    { SVC_URL: 'https://a.example', SVC_RP_KEY: 'dk_rp_secretsecret' },
    'goes with',
  ],
  ['an SVC_DID that is no did:web', [], { SVC_DID: 'did:key:z6Mk' }, 'SVC_DID must be'],
  [
    'a document that is not there',
    [],
    { SVC_DID_DOCUMENT: join(folder, 'none') },
    'SVC_DID_DOCUMENT cannot be read',
  ],
  [
    'a document that is too long',
    [],
    { SVC_DID_DOCUMENT: file('long', 'x'.repeat(2_000_000)) },
    'more than 1048576 bytes',
  ],
  ...[
    ['no JSON', 'did:web:svc.example'],
    ['JSON that breaks off', '{"id":"did:web:svc.example"'],
    ['another document', '{"receipt_id":"drc_1"}'],
    ['the document of nobody', '{"id":7}'],
  ].map(
    ([what = '', text = '']) =>
      [
        `a document that is ${what}`,
        [],
        { SVC_DID_DOCUMENT: file(what, text) },
        'SVC_DID_DOCUMENT must be a file with the DID document of the service: ',
      ] satisfies Refused,
  ),
  [
    'a document of another service than SVC_DID',
    [],
    {
      SVC_DID: 'did:web:other.example',
      SVC_DID_DOCUMENT: file(
        'other',
        '{"id":"did:web:svc.example","verificationMethod":[],"assertionMethod":[]}',
      ),
    },
    'SVC_DID_DOCUMENT is of did:web:svc.example, and SVC_DID is did:web:other.example',
  ],
  ['plain http to another machine', [], { ...at, SVC_URL: 'http://svc.example' }, 'https address'],
  [
    'two API keys',
    [],
    { ...at, SVC_PRINCIPAL_KEY_FILE: file('key', 'dk_principal_other') },
    'one of SVC_PRINCIPAL_KEY',
  ],
  [
    'an API key in the variable that must name its file',
    [],
    { SVC_URL: 'https://svc.example', SVC_PRINCIPAL_KEY_FILE: SVC_PRINCIPAL_KEY },
    'SVC_PRINCIPAL_KEY_FILE cannot be read: ENOENT',
  ],
  ['an API key of two words', [], { ...at, SVC_PRINCIPAL_KEY: `${SVC_PRINCIPAL_KEY} x` }, 'one word'],
  [
    'the API key of another class',
    [],
    { ...at, SVC_PRINCIPAL_KEY: 'dk_rp_secretsecret' },
    'SVC_PRINCIPAL_KEY must begin with dk_principal_',
  ],
  [
    'the API key of another class in a file',
    [],
    { SVC_URL: at.SVC_URL, SVC_RP_KEY_FILE: file('principal', SVC_PRINCIPAL_KEY) },
    'SVC_RP_KEY_FILE must begin with dk_rp_',
  ],
  ['a signing key without its kid', [], { ...at, SVC_PRINCIPAL_JWK_FILE: file('a', '{}') }, 'go together'],
  [
    'a signing key of nobody',
    [],
    { SVC_DID: 'did:web:a.example', SVC_PRINCIPAL_JWK_FILE: file('b', '{}') },
    'goes with',
  ],
  ...['secretsecret', '{"d":1}', '{"d":"secretsecret"}'].map(
    (text, i) =>
      [
        `a malformed signing key (${i})`,
        [],
        { ...at, SVC_PRINCIPAL_KID, SVC_PRINCIPAL_JWK_FILE: file(`jwk-${i}`, text) },
        'SVC_PRINCIPAL_JWK_FILE',
      ] satisfies Refused,
  ),
])('refuses %s, names the fault, and quotes no secret', (_, args, env, said) => {
  expect(() => readSettings(args, env)).toThrow(said);
  // For this error the program ends with exit code 2.
  expect(() => readSettings(args, env)).toThrow(SettingsError);
  try {
    readSettings(args, env);
  } catch (error) {
    expect((error as Error).message).not.toContain('secretsecret');
  }
});

it('reads a DID document that begins with a byte order mark', () => {
  const text = JSON.stringify({ id: 'did:web:svc.example', verificationMethod: [], assertionMethod: [] });
  const settings = readSettings([], { SVC_DID_DOCUMENT: file('marked', `\ufeff${text}`) });
  expect(settings.trust?.document).toBe(text);
});

it('starts for a relying party with a DID document that begins with a byte order mark', () => {
  const text = JSON.stringify({ id: 'did:web:svc.example', verificationMethod: [], assertionMethod: [] });
  const env = { SVC_URL: at.SVC_URL, SVC_RP_KEY: 'dk_rp_secretsecret' };
  const marked = file('marked', `\ufeff${text}`);
  expect(() => createServer(readSettings([], { ...env, SVC_DID_DOCUMENT: marked }))).not.toThrow();
});

it('reads both keys from files, and lists them as secrets', async () => {
  const { privateJwk } = await generatePrincipalKey();
  const settings = readSettings(['--write'], {
    ...{
      SVC_URL: 'http://127.0.0.1:3000',
      SVC_PRINCIPAL_KEY_FILE: file('api.key', `${SVC_PRINCIPAL_KEY}\n`),
    },
    ...{ SVC_PRINCIPAL_KID, SVC_PRINCIPAL_JWK_FILE: file('key.jwk', JSON.stringify(privateJwk)) },
  });
  expect(settings).toMatchObject({ trust: undefined, writes: true, confirmsByToken: false });
  expect(settings.principal).toMatchObject({ apiKey: SVC_PRINCIPAL_KEY, signer: { kid: SVC_PRINCIPAL_KID } });
  expect(settings.secrets).toEqual([SVC_PRINCIPAL_KEY, privateJwk.d]);
});

it
  .skipIf(process.platform === 'win32')
  .each(['SVC_PRINCIPAL_KEY_FILE', 'SVC_PRINCIPAL_JWK_FILE', 'SVC_RP_KEY_FILE'])(
  'refuses a secret in %s that everybody on this machine can read, and says how to fix it',
  async (name) => {
    const { privateJwk } = await generatePrincipalKey();
    const key = name.includes('RP') ? 'dk_rp_secretsecret' : SVC_PRINCIPAL_KEY;
    const path = file('shared', name.includes('JWK') ? JSON.stringify(privateJwk) : key);
    const kid = name.includes('JWK') ? { SVC_PRINCIPAL_KID } : {};
    const own = name === 'SVC_PRINCIPAL_KEY_FILE' ? { SVC_URL: at.SVC_URL } : at;
    const read = () => readSettings([], { ...own, ...kid, SVC_DID: 'did:web:svc.example', [name]: path });
    chmodSync(path, 0o644);
    expect(read).toThrow(`chmod 600 ${path}`);
    chmodSync(path, 0o640);
    expect(read).not.toThrow();
  },
);

it('the help says of each variable the same tools and addresses as the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| `(SVC_\w+)`([^|]*) \| (.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [, name = '', others = '', what = ''] of rows) {
    const told = USAGE.split('\n').find((line) => line.trimStart().startsWith(`${name} `)) ?? '';
    for (const part of what.match(/http for this machine|\w+_(?:grant|request)\b|dk_\w+/g) ?? [])
      expect(told).toContain(part);
    for (const [other] of others.matchAll(/SVC_\w+/g)) expect(USAGE).toContain(other);
  }
});
