/**
 * The signer of status lists is not available: a party that can cause this cannot keep a revocation from taking effect
 * (protocol §9, decision 52). Two nodes, whose signers are removed within the process, like a token that is pulled out.
 * A pause, which signs nothing, takes effect as usual.
 */
import { checkDatabase, type Fault } from '@svc/fsck';
import { completeRevocations, serviceUnavailable } from '@svc/service';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { withOwnDeployment } from '../world/deployment.ts';
import { call, type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const deployment = withOwnDeployment({}, 2);
let tenants: Tenants;
beforeAll(async () => {
  tenants = await deployment.createTenants();
});

/** Returns the function that restores them. */
const takeSignersAway = (): (() => void) => {
  const signers = deployment.processes.map(({ secrets }) => secrets.statusKeys.signer);
  const before = signers.map(({ sign }) => sign);
  const away = async (): Promise<Uint8Array> => {
    throw serviceUnavailable('token svc: no such token is there');
  };
  for (const signer of signers) Object.assign(signer, { sign: away });
  const bringBack = () => {
    for (const [i, signer] of signers.entries()) Object.assign(signer, { sign: before[i] });
  };
  onTestFinished(bringBack);
  return bringBack;
};

const receiptsOfEach = (grant: HeldGrant, of = tenants) =>
  Promise.all(
    deployment.processes.map(async ({ baseUrl }) =>
      receiptOf(await call(baseUrl, 'POST', '/verify', { key: of.rpKey, body: await verifyBody(of, grant) })),
    ),
  );
const decideOnEach = async (grant: HeldGrant, of = tenants) =>
  (await receiptsOfEach(grant, of)).map(({ decision, reason }) => reason ?? decision);
const revoke = (grant: HeldGrant, at = 0, { principalKey: key } = tenants) =>
  call(deployment.processes[at]?.baseUrl ?? '', 'POST', '/revoke', {
    key,
    body: { grant_id: grant.grantId },
  });
const recordOf = async ({ grantId }: HeldGrant) => {
  const grant = await deployment.process.service.store.grants.find(grantId);
  const list = await deployment.process.service.store.statusLists.findByUrl(grant?.statusListUrl ?? '');
  if (grant === null || list === null) throw new Error('no Grant, or no list');
  const { revocationRecordedAtMs, revokedAtMs, statusIndex } = grant;
  return {
    isRecorded: revocationRecordedAtMs !== null,
    isStamped: revokedAtMs !== null,
    isInList: (((list.bits[statusIndex >> 3] ?? 0) >> (7 - (statusIndex & 7))) & 1) === 1,
  };
};
const faultsOf = async (): Promise<readonly Fault[]> => {
  const faults: Fault[] = [];
  const { databaseUrl } = deployment;
  await checkDatabase({ databaseUrl, onFault: (fault) => faults.push(fault) });
  return faults;
};
const auditedAs = async (action: string, target: string) =>
  (
    await deployment.sql.query('select 1 from audit_events where action = $1 and target = $2', [
      action,
      target,
    ])
  ).rowCount;
/** Does what a worker does that finds them old enough. */
const completeAsWorker = async () => {
  await deployment.sql.query(
    `update grants set revocation_recorded_at = revocation_recorded_at - interval '1 minute' where revoked_at is null`,
  );
  const [, node] = deployment.processes;
  if (node === undefined) throw new Error('no second node');
  return completeRevocations(node.service, new AbortController().signal);
};
const NOT_YET = {
  status: 503,
  text: expect.stringMatching(/"SERVICE_UNAVAILABLE".*recorded but not yet visible/),
};
const PENDING = { isRecorded: true, isStamped: false, isInList: false };
const DONE = { isRecorded: true, isStamped: true, isInList: true };

it('a revocation without the signer is 503 but denies on every node; the worker publishes it once the signer is back', async () => {
  const [grant, revokedBefore] = [await issueGrant(tenants), await issueGrant(tenants)];
  const first = await revoke(revokedBefore);
  // Fills the caches of each node with the Grant and its list.
  expect(await decideOnEach(grant)).toEqual(['ALLOW', 'ALLOW']);
  const bringBack = takeSignersAway();
  expect(await revoke(grant)).toMatchObject(NOT_YET);
  expect(await decideOnEach(grant)).toEqual(['AUTHORITY_REVOKED', 'AUTHORITY_REVOKED']);
  expect(await recordOf(grant)).toEqual(PENDING);
  expect(await revoke(grant, 1)).toMatchObject(NOT_YET);
  expect(await completeAsWorker()).toEqual({ stamped: 0 });
  expect(await recordOf(grant)).toEqual(PENDING);
  expect(await revoke(revokedBefore, 1)).toMatchObject({ status: 200, text: first.text });
  expect(await faultsOf()).toEqual([]);
  bringBack();
  expect(await completeAsWorker()).toEqual({ stamped: 1 });
  expect(await recordOf(grant)).toEqual(DONE);
  expect(await decideOnEach(grant)).toEqual(['AUTHORITY_REVOKED', 'AUTHORITY_REVOKED']);
  expect((await revoke(grant)).status).toBe(200);
  expect(await auditedAs('grant.revoke', grant.grantId)).toBe(1);
  expect(await faultsOf()).toEqual([]);
});

it('a Grant of a retired key that is revoked without the signer is denied at P6, and its Principal sees the denials', async () => {
  const own = await deployment.createTenants();
  const { principalDid, principalKey: key, rpKey } = own;
  const grant = await issueGrant(own);
  const kid = encodeURIComponent(`${principalDid}#key-1`);
  expect((await deployment.call('POST', `/keys/${kid}/retire`, { key })).status).toBe(200);
  expect(await decideOnEach(grant, own)).toEqual(['ALLOW', 'ALLOW']);
  takeSignersAway();
  expect(await revoke(grant, 0, own)).toMatchObject(NOT_YET);
  const receipts = await receiptsOfEach(grant, own);
  for (const receipt of receipts) {
    expect(receipt).toMatchObject({ reason: 'AUTHORITY_REVOKED', grant_id: grant.grantId });
    expect(receipt.protocol.checks).toMatchObject({ P2: true, P3: true, P6: false });
  }
  const asked = { key: rpKey, body: await verifyBody(own, grant) };
  const dryRun = await deployment.call('POST', '/verify/dry-run', asked);
  expect(dryRun.json.failed).toMatchObject([
    { check: 'P6', compared: [{ what: 'state of the Grant', found: 'revoked', expected: 'active' }] },
  ]);
  const ofPrincipal = `/principals/${encodeURIComponent(principalDid)}/decisions`;
  const { json: seen } = await deployment.call('GET', ofPrincipal, { key });
  const denials = receipts.map(({ receipt_id }) => expect.objectContaining({ receipt_id }));
  expect(seen.decisions).toEqual(expect.arrayContaining(denials));
});

it('a repeated revocation is 200 once the signer is back, and the list then contains it', async () => {
  const grant = await issueGrant(tenants);
  const bringBack = takeSignersAway();
  expect(await revoke(grant)).toMatchObject(NOT_YET);
  bringBack();
  expect((await revoke(grant, 1)).status).toBe(200);
  expect(await recordOf(grant)).toEqual(DONE);
});

it('pauses and resumes are 200 and hold on every node without the signer and while no DID resolves', async () => {
  const grant = await issueGrant(tenants);
  expect(await decideOnEach(grant)).toEqual(['ALLOW', 'ALLOW']);
  const bringBack = takeSignersAway();
  const resolvers = deployment.processes.map(({ service }) => service.didResolver);
  const before = resolvers.map(({ resolve }) => resolve);
  onTestFinished(() => {
    for (const [i, resolver] of resolvers.entries()) Object.assign(resolver, { resolve: before[i] });
  });
  for (const resolver of resolvers) Object.assign(resolver, { resolve: () => new Promise(() => {}) });
  const change = (at: number, path: string, body: object) =>
    call(deployment.processes[at]?.baseUrl ?? '', 'POST', path, { key: tenants.principalKey, body });
  for (const target of [
    { scope: 'grant', subject: grant.grantId },
    { scope: 'agent', subject: tenants.agent.did },
    { scope: 'principal', subject: tenants.principalDid },
  ]) {
    expect((await change(0, '/pauses', target)).status).toBe(200);
    expect(await decideOnEach(grant)).toEqual(['AUTHORITY_REVOKED', 'AUTHORITY_REVOKED']);
    expect((await change(1, '/pauses/resume', target)).status).toBe(200);
    expect(await decideOnEach(grant)).toEqual(['ALLOW', 'ALLOW']);
  }
  expect(await revoke(grant)).toMatchObject(NOT_YET);
  bringBack();
  expect((await revoke(grant)).status).toBe(200);
});

it('the kill switch without the signer is 503 but denies all Grants of the Agent; it is 200 once the signer is back', async () => {
  const grants = [await issueGrant(tenants), await issueGrant(tenants)] as const;
  const bringBack = takeSignersAway();
  expect(await revoke(grants[0])).toMatchObject(NOT_YET);
  const disable = (at: number) =>
    call(
      deployment.processes[at]?.baseUrl ?? '',
      'POST',
      `/agents/${encodeURIComponent(tenants.agent.did)}/disable`,
      { key: tenants.principalKey },
    );
  expect(await disable(0)).toMatchObject(NOT_YET);
  for (const grant of grants)
    expect(await decideOnEach(grant)).toEqual(['AUTHORITY_REVOKED', 'AUTHORITY_REVOKED']);
  expect(await disable(1)).toMatchObject(NOT_YET);
  for (const grant of grants) expect(await recordOf(grant)).toEqual(PENDING);
  bringBack();
  expect((await disable(1)).status).toBe(200);
  for (const grant of grants) expect(await recordOf(grant)).toEqual(DONE);
  expect(await auditedAs('agent.disable', tenants.agent.did)).toBe(1);
  expect(await faultsOf()).toEqual([]);
});
