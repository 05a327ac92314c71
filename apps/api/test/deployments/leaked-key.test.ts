/**
 * The drill of docs/operations.md, “A key has leaked”, on two working nodes: what the service does, what relying
 * parties see, and what the holder of the leaked key can still do with it.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { signReceipt, verifyReceipt } from '@svc/receipts';
import { verifyBundle } from '@svc/receipts/bundle';
import { verifyIncludedReceipt } from '@svc/receipts/inclusion';
import { createVerifier } from '@svc/sdk-rp';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DOMAIN, nodeEnv, startApiNodes } from '../world/api-node.ts';
import { closeToday } from '../world/close-today.ts';
import { contractCall, contractFetch } from '../world/contract-call.ts';
import { withSeparateNodes } from '../world/deployment.ts';
import { runAdmin } from '../world/run-admin.ts';
import { runProgram } from '../world/run-program.ts';
import { ACTION, issueGrant, type Receipt, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-leaked-key-test-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const deployment = withSeparateNodes({ SVC_DATA_DIR: dataDir }, 2);
const SERVICE = `did:web:${DOMAIN}`;
const receiptFile = join(dataDir, 'receipt-keys.json');
const statusFile = join(dataDir, 'status-keys.json');

interface Jwk {
  readonly kid: string;
  readonly x: string;
  readonly d?: string;
}
const readKeys = (path: string) =>
  (JSON.parse(readFileSync(path, 'utf8')) as { readonly keys: readonly Jwk[] }).keys;

/** As docs/operations.md describes it: the database's address is in a file. */
const operatorEnv = () => {
  const { DATABASE_URL: url, ...env } = nodeEnv(deployment.databaseUrl, { SVC_DATA_DIR: dataDir });
  const path = join(dataDir, 'database-url');
  writeFileSync(path, `${url}\n`, { mode: 0o600 });
  return { ...env, DATABASE_URL_FILE: path };
};

/** An empty folder: a process that keeps the database's fence would begin one there. */
const fenceFolder = join(dataDir, 'fence');

/** Runs svc-admin as the operator does, in the environment of the API. */
const adminWith = (more: Readonly<Record<string, string>>, ...parameters: string[]) => {
  const env = { ...operatorEnv(), SVC_FENCE: pathToFileURL(fenceFolder).href, ...more };
  return runAdmin(parameters, env);
};
const admin = (...parameters: string[]) => adminWith({}, ...parameters);

const onEachNode = <T>(ask: (baseUrl: string) => Promise<T>): Promise<T[]> =>
  Promise.all(deployment.processes.map(({ baseUrl }) => ask(baseUrl)));
const didDocument = async () => (await deployment.call('GET', '/.well-known/did.json')).text;
const methodsOf = (document: string) =>
  (JSON.parse(document) as { verificationMethod: Record<string, string>[] }).verificationMethod;

let tenants: Tenants;
let before: Receipt;
let pinnedBefore: string;
const inclusionOf = async ({ receipt_id }: Receipt) =>
  (await deployment.call('GET', `/decisions/${receipt_id}/inclusion`)).json;
const attestationOf = async ({ receipt_id }: Receipt) =>
  (await deployment.call('GET', `/decisions/${receipt_id}/attestation`)).json;
const verifyOn = async (baseUrl: string) => {
  const body = await verifyBody(tenants, await issueGrant(tenants));
  return contractCall(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body });
};
/** Interface §InclusionProof. */
const INCLUSION_MEMBERS = [
  ...['audit_path', 'checkpoint', 'day', 'kid', 'leaf', 'leaf_index', 'receipt_id', 'root', 'tree_size'],
];
const headerOf = (jws: string) =>
  JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()) as { readonly kid: string };
const kidOf = ({ receipt }: Receipt): string => headerOf(receipt).kid;

beforeAll(async () => {
  tenants = await deployment.createTenants();
  before = receiptOf(await verifyOn(deployment.process.baseUrl));
  pinnedBefore = await didDocument();
});

/** Signs other content under the id of a Receipt, with the leaked key. */
const forge = async ({ x = '', d = '' }: Partial<Jwk>): Promise<string> => {
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
  const { receipt: _, ...body } = before;
  const signer = {
    kid: `${SERVICE}#receipt-1`,
    sign: (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, key)),
  };
  const { text } = await signReceipt({ ...body, grant_hash: `sha256:${'f'.repeat(64)}` } as never, signer);
  return text;
};

const allowedOnEveryNode = async (kid: string) => {
  await vi.waitFor(
    async () => {
      const receipts = (await onEachNode(verifyOn)).map(receiptOf);
      expect(receipts.map((receipt) => [receipt.decision, kidOf(receipt)])).toEqual([
        ['ALLOW', kid],
        ['ALLOW', kid],
      ]);
    },
    { timeout: 20_000, interval: 250 },
  );
};

describe('after the leak of a Receipt key', () => {
  let leaked: Partial<Jwk>;

  it('svc-admin keys compromise replaces the key in its file by a new one, with mode 600 and without access to other keys', async () => {
    leaked = readKeys(receiptFile)[0] ?? {};
    const away = { SVC_STATUS_KEYS: join(dataDir, 'away', 'status-keys.json') };
    const { status, out, err } = await adminWith(away, 'keys', 'compromise', 'receipt-1');
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('receipt-2 signs, and receipt-1 has no private part any more');
    expect(out).not.toContain(leaked.d);
    expect(readKeys(receiptFile).map(({ kid, d }) => [kid, d !== undefined])).toEqual([
      ['receipt-2', true],
      ['receipt-1', false],
    ]);
    expect(statSync(receiptFile).mode & 0o777).toBe(0o600);
    expect(out).toContain('restarted: systemctl restart svc-api svc-worker');
  });

  it('svc-admin keys compromise does not create a fence', () => {
    expect(existsSync(fenceFolder)).toBe(false);
  });

  it('every node signs with the new key without a restart, and publishes the old one as revoked', async () => {
    await allowedOnEveryNode(`${SERVICE}#receipt-2`);
    const methods = methodsOf(await didDocument());
    expect(methods.find(({ id }) => id === `${SERVICE}#receipt-1`)).toMatchObject({
      'svc:validFrom': expect.stringMatching(/^20.*Z$/),
      'svc:validUntil': expect.stringMatching(/^20.*Z$/),
      revoked: expect.stringMatching(/^20.*Z$/),
    });
    expect(methods.find(({ id }) => id === `${SERVICE}#receipt-2`)?.revoked).toBeUndefined();
  });

  it('a verifier that fetches the DID document accepts the new key', async () => {
    const verifier = createVerifier({
      ...{ baseUrl: deployment.process.baseUrl, apiKey: tenants.rpKey, relyingParty: tenants.rpDid },
      ...{ serviceDid: SERVICE, fetch: contractFetch },
    });
    const { grant, proof } = await verifyBody(tenants, await issueGrant(tenants));
    const request = { method: 'POST', url: 'https://shop.example/orders' };
    expect(await verifier.verify({ grant, proof, action: ACTION, request })).toMatchObject({ allowed: true });
  });

  it('Receipts that the key signed, and forged ones, are key-not-in-force with the new DID document', async () => {
    const pinnedAfter = await didDocument();
    for (const receipt of [before, await forge(leaked)]) {
      expect(verifyReceipt(receipt, pinnedBefore).ok).toBe(true);
      expect(verifyReceipt(receipt, pinnedAfter)).toMatchObject({ failures: [{ code: 'key-not-in-force' }] });
    }
  });

  it('a node with the old key file does not start, and its error says to put a new key first', async () => {
    const current = readFileSync(receiptFile, 'utf8');
    writeFileSync(receiptFile, JSON.stringify({ keys: [leaked] }));
    try {
      const refused = /#receipt-1 is compromised since .* put a new key first/;
      const within = startApiNodes(1, deployment.databaseUrl, { SVC_DATA_DIR: dataDir });
      await expect(within).rejects.toThrow(refused);
      if (!isDeep) return;
      const [port, adminPort] = await findFreePorts(2);
      const ports = { SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort) };
      const started = runProgram('apps/api', [], { ...operatorEnv(), ...ports });
      expect([started.status, started.err]).toEqual([1, expect.stringMatching(refused)]);
    } finally {
      writeFileSync(receiptFile, current);
    }
  });

  it.runIf(isDeep)('svc-admin keys compromise can be repeated without making another key', async () => {
    expect((await admin('keys', 'compromise', `${SERVICE}#receipt-1`)).status).toBe(0);
    expect(readKeys(receiptFile)[0]?.kid).toBe('receipt-2');
  });

  it.runIf(isDeep)('svc-admin keys lists the key as compromised', async () => {
    expect((await admin('keys')).out).toMatch(
      /#receipt-1 {2}published .*, compromised .*\n.*#receipt-2 {2}published [^,]*\n/,
    );
  });

  it.runIf(isDeep)('svc-admin keys compromise refuses a key that never existed', async () => {
    const { status, err } = await admin('keys', 'compromise', 'status-9');
    expect([status, err]).toEqual([2, expect.stringContaining('has no key status-9')]);
  });

  it('svc-admin keys compromise for a status key has every status list signed again, and decisions continue', async () => {
    const signers = async () => {
      const { rows } = await deployment.sql.query('select credential from status_lists');
      return rows.map(({ credential }) => headerOf(String(credential)).kid);
    };
    expect(new Set(await signers())).toEqual(new Set([`${SERVICE}#status-1`]));
    const { status, out } = await admin('keys', 'compromise', 'status-1');
    expect([status, out]).toEqual([0, expect.stringContaining('status lists are signed anew.')]);
    expect(new Set(await signers())).toEqual(new Set([`${SERVICE}#status-2`]));
    await vi.waitFor(
      async () => {
        for (const { text } of await onEachNode((url) => contractCall(url, 'GET', '/.well-known/did.json')))
          expect(methodsOf(text).find(({ id }) => id === `${SERVICE}#status-1`)?.revoked).toBeDefined();
      },
      { timeout: 20_000, interval: 250 },
    );
    await allowedOnEveryNode(`${SERVICE}#receipt-2`);
    expect(readKeys(statusFile).map(({ kid }) => kid)).toEqual(['status-2', 'status-1']);
  });

  it('an earlier Receipt verifies with its inclusion and the attestation, and a forged one does not', async () => {
    await closeToday(deployment, dataDir);
    const serviceDidDocument = await didDocument();
    const inclusion = await inclusionOf(before);
    const attestation: object = await attestationOf(before);
    const verify = (receipt: unknown) =>
      verifyIncludedReceipt({ receipt, inclusion, attestation, serviceDidDocument });
    expect(verify(before)).toMatchObject({ ok: true, kid: `${SERVICE}#receipt-1` });
    const alone = verifyIncludedReceipt({ receipt: before, inclusion, serviceDidDocument });
    expect(alone).toMatchObject({ ok: false });
    // Only members of the interface, so that a strict reader still accepts the proofs.
    expect(Object.keys(inclusion).sort()).toEqual(INCLUSION_MEMBERS);
    // Leaves cover ids only: without the attestation this would be valid.
    expect(verify(await forge(leaked))).toMatchObject({ failures: [{ code: 'key-not-in-force' }] });
    const { decisions } = createVerifier({
      ...{ baseUrl: deployment.process.baseUrl, apiKey: tenants.rpKey, relyingParty: tenants.rpDid },
      ...{ serviceDid: SERVICE, fetch: contractFetch },
    });
    expect(await decisions.get(before.receipt_id)).toMatchObject({ receipt: before });
    const bundled = await decisions.bundle(before.receipt_id);
    expect(bundled).toMatchObject({ state: 'ready', receipt: before });
    const bundle = 'bundle' in bundled && bundled.bundle;
    expect(verifyBundle(bundle, { serviceDidDocument })).toMatchObject({ ok: true, assumed: [] });
  });

  it.runIf(isDeep)(
    'an earlier Receipt still verifies after the status key that signed its day has leaked too',
    async () => {
      expect((await admin('keys', 'compromise', 'status-2')).status).toBe(0);
      await vi.waitFor(
        async () => {
          const serviceDidDocument = await didDocument();
          const inclusion = await inclusionOf(before);
          expect(inclusion.kid).toBe(`${SERVICE}#status-2`);
          const { attestation } = await attestationOf(before);
          expect(headerOf(String(attestation)).kid).toBe(`${SERVICE}#status-3`);
          const given = { receipt: before, inclusion, attestation, serviceDidDocument };
          expect(verifyIncludedReceipt(given)).toMatchObject({ ok: true });
        },
        { timeout: 20_000, interval: 250 },
      );
    },
  );
});
