/** `GET /.well-known/jwks.json`: libraries that are not made for this service verify what it signs. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isDeep } from '@svc/testkit/sampled';
import { compactVerify, createRemoteJWKSet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { publicJwkOf } from '../../world/published-keys.ts';
import { issueGrant, type Receipt, receiptOf, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
const PATH = '/.well-known/jwks.json';
const urlOf = () => `${deployment.process.baseUrl}${PATH}`;
let receipt: Receipt;
let statusList: string;

beforeAll(async () => {
  const tenants = await deployment.createTenants();
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  receipt = receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
  const { pathname } = new URL(receipt.evidence.status?.credential_url ?? '');
  statusList = (await deployment.call('GET', pathname)).text;
});

const bodyOf = ({ receipt: _, ...body }: Receipt) => body;

describe('GET /.well-known/jwks.json', () => {
  it('has the keys of the DID document, under the same kids', async () => {
    const { json, headers } = await deployment.call('GET', PATH);
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=60' },
    });
    const { json: document } = await deployment.call('GET', '/.well-known/did.json');
    const { keys } = json as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toEqual([`did:web:${DOMAIN}#receipt-1`, `did:web:${DOMAIN}#status-1`]);
    for (const key of keys) expect(key).toMatchObject({ ...publicJwkOf(document, key.kid), alg: 'EdDSA' });
  });

  it('is enough for jose to verify Receipts and status lists', async () => {
    const keys = createRemoteJWKSet(new URL(urlOf()));
    const { payload } = await compactVerify(receipt.receipt, keys, { algorithms: ['EdDSA'] });
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(bodyOf(receipt));
    await compactVerify(statusList, keys, { algorithms: ['EdDSA'] });
  });
});

/** The programs of docs/guide/how-to/jose.md. */
const folder = mkdtempSync(join(tmpdir(), 'svc-jose-'));
afterAll(() => rmSync(folder, { recursive: true }));
const page = readFileSync(new URL('../../../../../docs/guide/how-to/jose.md', import.meta.url), 'utf8');
for (const [, name = '', program = ''] of page.matchAll(/^cat > (\S+) <<'EOF'\n(.*?)^EOF$/gms))
  writeFileSync(join(folder, name), program);
symlinkSync(
  fileURLToPath(new URL('../../../../../node_modules', import.meta.url)),
  join(folder, 'node_modules'),
);
const fileOf = (name: string) => join(folder, name);
const OTHERS: readonly [
  library: string,
  command: string,
  args: readonly string[],
  probe: readonly string[],
][] = [
  ['jose', process.execPath, [fileOf('verify.mjs')], ['--version']],
  ['PyJWT', '/usr/bin/python3', [fileOf('by_pyjwt.py')], ['-c', 'import jwt, cryptography']],
  ['jwcrypto', '/usr/bin/python3', [fileOf('by_jwcrypto.py')], ['-c', 'import jwcrypto']],
  ['the JDK', 'java', [fileOf('Verify.java')], ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '-version']],
];

/** The server runs in this process, so the command is awaited without blocking. */
const run = async (command: string, args: readonly string[], input: string) => {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 60_000 });
  child.stdin.end(input);
  const ended = once(child, 'close');
  const output = await text(child.stdout);
  return { status: (await ended)[0] as number | null, output };
};

describe.each(OTHERS)('With the JWK Set, the program for %s', (_, command, args, probe) => {
  // A JDK takes seconds to start and to compile.
  const isInstalled =
    (isDeep || command !== 'java') && spawnSync(command, probe, { timeout: 20_000 }).status === 0;

  it.skipIf(!isInstalled)(
    'verifies a Receipt and refuses a changed one, a status list and a Receipt of another service',
    async () => {
      const verify = (jws: string, did = `did:web:${DOMAIN}`) => run(command, [...args, urlOf(), did], jws);
      const said = `ALLOW ${receipt.receipt_id}\n`;
      expect(await verify(receipt.receipt)).toEqual({ status: 0, output: said });
      const [header, payload = '', signature] = receipt.receipt.split('.');
      const other = `${payload.slice(0, 40)}${payload[40] === 'A' ? 'B' : 'A'}${payload.slice(41)}`;
      // Refused: a changed one, other documents that the same keys sign, and what another service signs.
      const refused: readonly Parameters<typeof verify>[] = [
        [`${header}.${other}.${signature}`],
        [statusList],
        [receipt.receipt, 'did:web:other.example'],
      ];
      const statuses = await Promise.all(refused.map(async (one) => (await verify(...one)).status));
      expect(statuses).not.toContain(0);
    },
    // A JDK compiles at each of four runs, on a machine that may be busy.
    240_000,
  );
});
