/**
 * The drills of docs/operations.md, Keys, for each place of private keys: from no keys at all to working nodes, a
 * rotation, a leak, and a signer that is not available. They run the commands that an operator runs.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { verifyReceipt } from '@svc/receipts';
import { purchase } from '@svc/sdk-principal';
import { withDatabase } from '@svc/testkit';
import { type KmsServer, startKmsServer } from '@svc/testkit/kms-server';
import { programFile } from '@svc/testkit/process/program-file';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { createSoftToken, findSoftHsm, type SoftToken } from '@svc/testkit/soft-token';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DOMAIN, nodeEnv } from '../world/api-node.ts';
import { type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import {
  call,
  callUntilSettled,
  createTenants,
  issueGrant,
  type Receipt,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const SERVICE = `did:web:${DOMAIN}`;
/** A command that calls a hanging token waits ten seconds for it, and may call it twice. */
const COMMAND_MS = 60_000;
/** In a sample leaked-key.test.ts shows the effects of a leak on two nodes. */
const NODES = sampled({ quick: 1, deep: 2 });
const modulePath = findSoftHsm();
if (modulePath === null)
  console.warn(
    'SKIPPED: drills with a PKCS#11 token. SoftHSM is not installed (Debian: apt-get install softhsm2)',
  );

let kms: KmsServer;
let token: SoftToken | undefined;
beforeAll(async () => {
  kms = await startKmsServer();
  if (modulePath !== null) token = createSoftToken(modulePath);
});
afterAll(async () => {
  await kms.stop();
  token?.remove();
});

interface Place {
  readonly name: string;
  /** The place in which a key of Receipts is made. */
  readonly receipt: () => string;
  readonly status: () => string;
  readonly env: () => Readonly<Record<string, string>>;
  /** Makes the key that signs Receipts unavailable, and available again. Null: the key is in the process. */
  readonly away: ((uri: string) => void) | null;
  readonly back: (uri: string) => void;
}

const PLACES: readonly Place[] = [
  {
    ...{ name: 'encrypted files', receipt: () => 'file:', status: () => 'file:', env: () => ({}) },
    ...{ away: null, back: () => {} },
  },
  {
    ...{ name: 'a PKCS#11 token', receipt: () => token?.uri() ?? '', status: () => token?.uri() ?? '' },
    ...{ env: () => token?.env ?? {}, away: () => token?.freeze(), back: () => token?.wake() },
  },
  {
    ...{ name: 'AWS KMS', receipt: () => 'aws-kms:eu-central-1', status: () => 'file:', env: () => kms.env },
    ...{
      away: (uri: string) => kms.setState(uri, 'Disabled'),
      back: (uri: string) => kms.setState(uri, 'Enabled'),
    },
  },
]
  .filter(({ name }) => modulePath !== null || name !== 'a PKCS#11 token')
  // A sample runs the drills for one place: the places differ only in where a key is made and called.
  .filter(({ name }) => isDeep || name === 'AWS KMS');

/**
 * Starts again if SoftHSM answered CKR_GENERAL_ERROR, as it does now and then when several processes log in at once.
 * Such a process exits, and in production its supervisor starts it again (`Restart=always`).
 */
const startAsSupervised = async <Started>(start: () => Promise<Started>): Promise<Started> => {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === 5 || !String(error).includes('CKR_GENERAL_ERROR')) throw error;
    }
  }
};

describe.each(PLACES)('keys in $name', (place) => {
  const database = withDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'svc-drill-'));
  const receiptKeys = join(folder, 'receipt-keys.json');
  const passphrase = join(folder, 'passphrase');
  const env = () => ({
    SVC_DATA_DIR: folder,
    SVC_RECEIPT_KEYS: receiptKeys,
    SVC_STATUS_KEYS: join(folder, 'status-keys.json'),
    ...(existsSync(passphrase) ? { SVC_KEY_PASSPHRASE_FILE: passphrase } : {}),
    ...place.env(),
  });
  const makePassphrase = () => writeFileSync(passphrase, `${'p'.repeat(40)}\n`, { mode: 0o600 });
  let nodes: ApiProcesses | undefined;
  let tenants: Tenants;
  let before: Receipt;
  const base = () => nodes?.processes[0]?.baseUrl ?? '';
  const restart = async () => {
    await nodes?.stop();
    nodes = await startAsSupervised(() => startApiProcesses(NODES, database.url, env()));
    tenants = tenants?.at?.(base()) ?? (await createTenants(base()));
  };
  afterAll(async () => {
    await nodes?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Asynchronous: this process answers as KMS, so it must not block while the command runs. */
  const adminIn = (more: Readonly<Record<string, string>>, ...parameters: string[]) =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve) => {
      const options = {
        env: { PATH: process.env.PATH, ...nodeEnv(database.url, env()), ...more },
        timeout: COMMAND_MS,
      };
      const done = (error: { code?: unknown } | null, stdout: string, stderr: string) =>
        resolve({ status: error === null ? 0 : Number(error.code), text: stdout + stderr });
      execFile(process.execPath, [programFile('apps/admin'), ...parameters], options, done);
    });
  const admin = (...parameters: string[]) => adminIn({}, ...parameters);
  const succeed = async (...parameters: string[]): Promise<string> => {
    let { status, text } = await admin(...parameters);
    // Happens on a busy machine; the next attempt skips what is already done.
    for (let tries = 1; text.includes('no connection was open') && tries < 5; tries++)
      ({ status, text } = await admin(...parameters));
    expect([parameters, status, text]).toEqual([parameters, 0, expect.any(String)]);
    return text;
  };
  const keys = (purpose = 'receipt') =>
    (
      JSON.parse(readFileSync(join(folder, `${purpose}-keys.json`), 'utf8')) as {
        keys: { kid: string; private_key?: string }[];
      }
    ).keys;
  const verifyOn = async (url = base()) =>
    callUntilSettled(url, 'POST', '/verify', {
      key: tenants.rpKey,
      body: await verifyBody(tenants, await issueGrant(tenants)),
    });
  const kidOf = ({ receipt }: Receipt): string =>
    JSON.parse(Buffer.from(receipt.split('.')[0] ?? '', 'base64url').toString()).kid.split('#')[1];
  const didDocument = async () => (await call(base(), 'GET', '/.well-known/did.json')).text;
  const methodOf = async (kid: string): Promise<Record<string, string>> =>
    JSON.parse(await didDocument()).verificationMethod.find(
      ({ id }: { id: string }) => id === `${SERVICE}#${kid}`,
    );
  const signedOnEachNodeBy = async (kid: string) => {
    for (const { baseUrl } of nodes?.processes ?? [])
      expect(kidOf(receiptOf(await verifyOn(baseUrl)))).toBe(kid);
  };

  it('are made by one command each and sign decisions; no file contains them in plain text', async () => {
    if ([place.receipt(), place.status()].includes('file:')) makePassphrase();
    await succeed('migrate');
    await succeed('keys', 'create', 'receipt', '--private-key', place.receipt());
    await succeed('keys', 'create', 'status', '--private-key', place.status());
    await restart();
    before = receiptOf(await verifyOn());
    expect([before.decision, kidOf(before)]).toEqual(['ALLOW', 'receipt-1']);
    expect(verifyReceipt(before, await didDocument())).toMatchObject({ ok: true });
    for (const name of readdirSync(folder).filter((one) => /\.(json|pem)$/.test(one)))
      expect([name, /"d"|BEGIN PRIVATE KEY/.test(readFileSync(join(folder, name), 'utf8'))]).toEqual([
        name,
        false,
      ]);
  }, 60_000);

  it('rotate in order: published, signing, retired; Receipts of the former key stay valid', async () => {
    await succeed('keys', 'create', 'receipt');
    expect((await admin('keys', 'rotate', 'receipt-2')).text).toMatch(/receipt-2 is not published yet/);
    await restart();
    expect(await methodOf('receipt-2')).toBeDefined();
    await signedOnEachNodeBy('receipt-1');
    expect(await admin('keys', 'rotate', 'receipt-2')).toMatchObject({
      status: 2,
      text: expect.stringMatching(/less than 60 s/),
    });
    expect((await admin('keys', 'retire', 'receipt-1')).text).toMatch(
      /receipt-1 is the key that signs: first put another key in its place/,
    );
    await succeed('keys', 'rotate', 'receipt-2', '--now');
    await restart();
    await signedOnEachNodeBy('receipt-2');
    await succeed('keys', 'retire', 'receipt-1');
    await restart();
    expect(await methodOf('receipt-1')).toHaveProperty('svc:validUntil');
    expect(verifyReceipt(before, await didDocument())).toMatchObject({ ok: true });
    expect(keys().map(({ kid, private_key: uri }) => [kid, uri !== undefined])).toEqual([
      ['receipt-2', true],
      ['receipt-1', false],
    ]);
    expect((await admin('keys', 'rotate', 'receipt-1')).text).toMatch(/has no private part/);
  }, 90_000);

  it('that leak are replaced by one command: every node signs with a new key in the same place without a restart', async () => {
    const leaked = receiptOf(await verifyOn());
    await succeed('keys', 'compromise', 'receipt-2');
    expect(keys().map(({ kid, private_key: uri }) => [kid, uri !== undefined])).toEqual([
      ['receipt-3', true],
      ['receipt-2', false],
      ['receipt-1', false],
    ]);
    await vi.waitFor(() => signedOnEachNodeBy('receipt-3'), { timeout: 20_000, interval: 250 });
    const isPublished = async () => expect(await methodOf('receipt-2')).toHaveProperty('revoked');
    await vi.waitFor(isPublished, { timeout: 20_000, interval: 250 });
    expect(verifyReceipt(leaked, await didDocument())).toMatchObject({
      failures: [{ code: 'key-not-in-force' }],
    });
    expect(verifyReceipt(before, await didDocument())).toMatchObject({ ok: true });
    expect(await succeed('keys', 'compromise', 'status-1')).toContain('status lists are signed anew.');
    const areTaken = () => {
      for (const { log } of nodes?.processes ?? [])
        expect(log).toContainEqual(expect.stringMatching(/#status-2","msg":"keys\.taken"/));
    };
    await vi.waitFor(areTaken, { timeout: 20_000, interval: 250 });
    await vi.waitFor(() => signedOnEachNodeBy('receipt-3'), { timeout: 20_000, interval: 250 });
  }, 90_000);

  it.runIf(isDeep && place.away !== null)(
    'that are unavailable stop decisions, /readyz says why, and decisions resume without a restart',
    async () => {
      const uri = keys()[0]?.private_key ?? '';
      const readiness = async () => {
        const { status, text } = await call(nodes?.processes[0]?.adminUrl ?? '', 'GET', '/readyz');
        return { status, ...(JSON.parse(text) as { checks: Record<string, string> }).checks };
      };
      const ready = { status: 200, clock: 'ok', keys: 'ok', signer: 'ok', storage: 'ok' };
      expect(await readiness()).toMatchObject(ready);
      place.away?.(uri);
      try {
        // No decision is requested meanwhile.
        const away = expect.stringMatching(/^(token svc test, key receipt-3|AWS KMS arn:aws:kms:.*): /);
        const told = { ...ready, status: 503, signer: away };
        await vi.waitFor(async () => expect(await readiness()).toMatchObject(told), {
          timeout: 30_000,
          interval: 200,
        });
        expect((await verifyOn().catch(() => ({ status: 503 }))).status).toBe(503);
      } finally {
        place.back(uri);
      }
      await vi.waitFor(async () => expect(await readiness()).toMatchObject(ready), {
        timeout: 30_000,
        interval: 200,
      });
      // Each node detects it by itself.
      await vi.waitFor(() => signedOnEachNodeBy('receipt-3'), { timeout: 20_000, interval: 250 });
    },
    180_000,
  );

  it('limit the size of a Receipt with AWS KMS: a longer one is a 400 that names the limit', async () => {
    const capability = purchase({
      ...{ maxAmountMinor: 1000, currency: 'USD' },
      resources: Array.from({ length: 20 }, (_, i) => `order/${i}/${'x'.repeat(80)}`).concat('order/*'),
    });
    const grant = await tenants.principal.grants.issue({
      agent: tenants.agent.did,
      capabilities: [capability],
    });
    const answer = await call(base(), 'POST', '/verify', {
      key: tenants.rpKey,
      body: await verifyBody(tenants, grant),
    });
    if (place.name !== 'AWS KMS') expect(receiptOf(answer).decision).toBe('ALLOW');
    else
      expect([answer.status, answer.text]).toEqual([
        400,
        expect.stringMatching(/would take [4-9]\d{3} bytes to sign, and this deployment signs 4096 at most/),
      ]);
  });

  it.runIf(place.away !== null)(
    'that are lost can be replaced by keys in encrypted files, with a new passphrase if there was none, and nodes start',
    async () => {
      place.away?.(keys()[0]?.private_key ?? '');
      expect((await verifyOn().catch(() => ({ status: 503 }))).status).toBe(503);
      if (!existsSync(passphrase)) {
        const without = await admin('keys', 'create', 'receipt', '--private-key', 'file:');
        expect(without.text).toContain('SVC_KEY_PASSPHRASE_FILE');
        makePassphrase();
      }
      // Whatever keys the set had, the new one is the second.
      for (const purpose of ['receipt', 'status'])
        if (keys(purpose)[0]?.private_key?.startsWith('file:') !== true) {
          await succeed('keys', 'create', purpose, '--private-key', 'file:');
          await succeed('keys', 'rotate', keys(purpose)[1]?.kid ?? '', '--now');
        }
      const inProduction = {
        ...{ SVC_ENV: 'production', SVC_BASE_URL: `https://${DOMAIN}` },
        SVC_FENCE: pathToFileURL(join(folder, 'fence')).href,
      };
      const { text } = await adminIn(inProduction, 'config', 'check');
      expect(text).toMatch(/^ok {5}configuration\nok {5}keys\n[\s\S]*^ok {5}published keys$/m);
      await restart();
      await signedOnEachNodeBy('receipt-4');
      expect(verifyReceipt(before, await didDocument())).toMatchObject({ ok: true });
    },
    240_000,
  );
});
