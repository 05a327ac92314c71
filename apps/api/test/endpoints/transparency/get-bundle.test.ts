import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyBundle } from '@svc/receipts/bundle';
import { createVerifier } from '@svc/sdk-rp';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeToday } from '../../world/close-today.ts';
import { contractFetch } from '../../world/contract-call.ts';
import { withOwnDeployment } from '../../world/deployment.ts';
import { issueGrant, type Receipt, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bundle-test-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const deployment = withOwnDeployment({ SVC_DATA_DIR: dataDir });

let tenants: Tenants;
let allow: Receipt;
let malformed: Receipt;
beforeAll(async () => {
  tenants = await deployment.createTenants();
  const body = await verifyBody(tenants, await issueGrant(tenants));
  const verify = async (sent: unknown) =>
    receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body: sent }));
  allow = await verify(body);
  malformed = await verify({ grant: '', proof: '', action: {} });
  expect(allow.decision).toBe('ALLOW');
});

const bundleOf = ({ receipt_id }: Receipt) =>
  deployment.call('GET', `/decisions/${receipt_id}/bundle`, { key: tenants.rpKey });

it('A bundle is pending until the day is closed, then verifies offline in the SDK and on the command line', async () => {
  const serviceDidDocument = (await deployment.call('GET', '/.well-known/did.json')).text;
  const { decisions } = createVerifier({
    baseUrl: deployment.process.baseUrl,
    apiKey: tenants.rpKey,
    relyingParty: tenants.rpDid,
    didDocument: JSON.parse(serviceDidDocument),
    fetch: contractFetch,
  });
  expect((await bundleOf(allow)).status).toBe(202);
  const day = allow.evaluated_at.slice(0, 10);
  expect(await decisions.bundle(allow.receipt_id)).toEqual({ state: 'pending', day });
  await closeToday(deployment, dataDir);
  const helped = await decisions.bundle(allow.receipt_id);
  expect(helped).toMatchObject({ state: 'ready', receipt: allow });
  expect(verifyBundle('bundle' in helped && helped.bundle, { serviceDidDocument }).ok).toBe(true);
  for (const receipt of [allow, malformed]) {
    const { status, text } = await bundleOf(receipt);
    expect(status).toBe(200);
    const verified = verifyBundle(text, { serviceDidDocument });
    expect(verified).toMatchObject({ ok: true, receipt, assumed: [] });
  }

  // The service gets another DID: a signature under the former one is still checked under the former one.
  const { identity } = deployment.process.service;
  const former = { did: identity.did, receiptKeys: identity.receiptKeys, statusKeys: identity.statusKeys };
  const present = Object.getOwnPropertyDescriptors(identity);
  Object.defineProperties(identity, {
    did: { value: 'did:web:new.example', configurable: true },
    receiptKeys: { value: { ...former.receiptKeys, published: [] }, configurable: true },
    formers: { value: [former], configurable: true },
  });
  const renamed = await bundleOf(allow);
  Object.defineProperties(identity, present);
  expect(verifyBundle(renamed.text, { serviceDidDocument })).toMatchObject({ ok: true });
  expect(renamed.json).toMatchObject({ did_document: { id: former.did } });

  const { text, json } = await bundleOf(allow);
  const file = join(dataDir, 'bundle.json');
  writeFileSync(file, text);
  const document = JSON.parse(serviceDidDocument) as {
    verificationMethod: { id: string; publicKeyMultibase: string; 'svc:validFrom': string }[];
  };
  const keys = document.verificationMethod.flatMap(({ id, publicKeyMultibase, ...time }) => {
    const purpose = id.includes('#status-') ? 'status' : 'receipt';
    return ['--key', `${purpose}=${publicKeyMultibase}@${time['svc:validFrom']}/`];
  });
  const cli = programFile('packages/cli', 'svc-receipt.js');
  const check = (path: string) =>
    spawnSync(process.execPath, [cli, 'verify', '--bundle', path, ...keys], { encoding: 'utf8' });
  const { status, stderr } = check(file);
  expect([status, stderr]).toEqual([0, '']);
  // Evidence with another hash, and a Receipt that is not the one in the inclusion proof.
  writeFileSync(file, text.replace('"body":"', '"body":"x'));
  expect(check(file).status).toBe(1);
  writeFileSync(file, JSON.stringify({ ...json, receipt: malformed }));
  expect(check(file).status).toBe(1);
});
