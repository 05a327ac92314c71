/** `POST /pauses` and `POST /pauses/resume` (protocol §9). Who may call: access matrix. Races: deployments/pause-race. */

import { nativeCrypto } from '@svc/protocol/native';
import { verifyReceipt } from '@svc/receipts';
import { audit } from '@svc/receipts/audit';
import { sampled } from '@svc/testkit/sampled';
import { withSession } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { bodyFor, buy, issueBudget, totalOf } from '../../world/budgets.ts';
import { withDeployment } from '../../world/deployment.ts';
import {
  ACTION,
  callUntilSettled,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  untilSettled,
  verifyBody,
} from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let orgAdmin: string;
let tenants: Tenants;
let grant: HeldGrant;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  orgAdmin = await deployment.createKey('org:admin', orgId);
  tenants = await deployment.createTenants({ orgId });
  grant = await issueGrant(tenants);
});

const pause = (key: string, body: object, query = '') =>
  untilSettled(() => deployment.call('POST', `/pauses${query}`, { key, body }));
const resume = (key: string, body: object, query = '') =>
  untilSettled(() => deployment.call('POST', `/pauses/resume${query}`, { key, body }));

/** Asks both nodes, each of which has decided on the Grant before. */
const decideEverywhere = (held: HeldGrant, by: Tenants = tenants) =>
  Promise.all(
    deployment.processes.map(async ({ baseUrl }) =>
      receiptOf(
        await callUntilSettled(baseUrl, 'POST', '/verify', {
          key: by.rpKey,
          body: await verifyBody(by, held),
        }),
      ),
    ),
  );
const reasonsOf = async (held: HeldGrant, by?: Tenants) =>
  (await decideEverywhere(held, by)).map(({ reason }) => reason);

const BY_AUTHORITY = { reason: 'AUTHORITY_REVOKED', P6: false };
const BY_ASKER = { reason: 'SERVICE_UNAVAILABLE', P6: 'skipped' };

interface Arranged {
  readonly key: string;
  readonly target: { readonly scope: string; readonly subject: string };
  readonly denied: typeof BY_AUTHORITY | typeof BY_ASKER;
}
const arranged = (
  key: string,
  scope: string,
  subject: string,
  denied: Arranged['denied'] = BY_AUTHORITY,
): Arranged => ({ key, target: { scope, subject }, denied });

const ROUNDS = sampled({ quick: 1, deep: 3 });

const SCOPES: readonly (readonly [string, () => Arranged])[] = [
  ['a Grant', () => arranged(tenants.principalKey, 'grant', grant.grantId)],
  ['an Agent', () => arranged(tenants.principalKey, 'agent', tenants.agent.did)],
  ['a Principal', () => arranged(tenants.principalKey, 'principal', tenants.principalDid)],
  ['a relying party', () => arranged(tenants.rpKey, 'relying_party', tenants.rpDid, BY_ASKER)],
  ['an org', () => arranged(orgAdmin, 'org', orgId)],
];

describe.each(SCOPES)('While %s is paused', (_what, arrange) => {
  it('every node denies from the 200 of the pause on, and allows from the 200 of the resume on', async () => {
    const { key, target, denied } = arrange();
    const { reason, P6 } = denied;
    for (let round = 0; round < ROUNDS; round++) {
      expect(await reasonsOf(grant)).toEqual([null, null]);
      const paused = await pause(key, { ...target, reason: 'too much' });
      expect([paused.status, paused.json.paused_at]).toEqual([200, expect.any(String)]);
      for (const receipt of await decideEverywhere(grant)) {
        expect(receipt).toMatchObject({ decision: 'DENY', reason, protocol: { checks: { P3: true, P6 } } });
        expect(receipt.evidence.status).toBeUndefined();
      }
      const resumed = await resume(key, target);
      expect(resumed.json).toMatchObject({ ...target, paused: false, resumed_at: expect.any(String) });
    }
    expect(await reasonsOf(grant)).toEqual([null, null]);
  });

  it('repeated pauses keep the first actor, reason and time; repeated resumes answer alike; each is audited once', async () => {
    const { key, target } = arrange();
    const first = await pause(key, { ...target, reason: 'the first' });
    const again = await Promise.all(
      Array.from({ length: 4 }, () => pause(key, { ...target, reason: 'another' })),
    );
    expect(first.json).toMatchObject({ reason: 'the first', paused_by: { key_id: expect.any(String) } });
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set([first.text]));
    const ends = await Promise.all(Array.from({ length: 4 }, () => resume(key, target)));
    expect(new Set(ends.map(({ text }) => text)).size).toBe(1);
    const events = await deployment.call('GET', `/audit?target=${target.subject}&limit=2`, { key });
    expect(events.json.events).toMatchObject([
      { action: 'pause.lift', details: { scope: target.scope } },
      { action: 'pause.set', details: { scope: target.scope, reason: 'the first' } },
    ]);
  });
});

describe('A pause', () => {
  it('affects only its subject: other Grants and relying parties are still allowed', async () => {
    const [other, otherRp] = [await issueGrant(tenants), await deployment.createTenants()];
    await pause(tenants.principalKey, { scope: 'grant', subject: grant.grantId });
    await pause(tenants.rpKey, { scope: 'relying_party', subject: tenants.rpDid });
    const { rpDid, rpKey } = otherRp;
    expect(await reasonsOf(other, { ...tenants, rpDid, rpKey })).toEqual([null, null]);
    expect(await reasonsOf(grant, { ...tenants, rpDid, rpKey })).toEqual(Array(2).fill('AUTHORITY_REVOKED'));
    await resume(tenants.rpKey, { scope: 'relying_party', subject: tenants.rpDid });
    await resume(tenants.principalKey, { scope: 'grant', subject: grant.grantId });
  });

  it('stays in effect until each pause on the Grant’s org, Principal and Agent has ended', async () => {
    const own = { scope: 'principal', subject: tenants.principalDid };
    await pause(orgAdmin, { scope: 'org', subject: orgId });
    await pause(tenants.principalKey, own);
    await pause(tenants.principalKey, { scope: 'agent', subject: tenants.agent.did });
    expect((await resume(orgAdmin, { scope: 'org', subject: orgId })).status).toBe(200);
    expect(await reasonsOf(grant)).toEqual(Array(2).fill('AUTHORITY_REVOKED'));
    expect((await resume(tenants.principalKey, own)).status).toBe(200);
    expect(await reasonsOf(grant)).toEqual(Array(2).fill('AUTHORITY_REVOKED'));
    await resume(tenants.principalKey, { scope: 'agent', subject: tenants.agent.did });
    expect(await reasonsOf(grant)).toEqual([null, null]);
  });

  it('of an org applies to Principals that join it and to relying parties that are registered in it', async () => {
    const org = await deployment.createOrg();
    const admin = await deployment.createKey('org:admin', org);
    const outside = await deployment.createTenants();
    const held = await issueGrant(outside);
    expect(await reasonsOf(held, outside)).toEqual([null, null]);
    await pause(admin, { scope: 'org', subject: org });
    await deployment.sql.query('update principals set org_id = $1 where did = $2', [
      org,
      outside.principalDid,
    ]);
    expect(await reasonsOf(held, outside)).toEqual(Array(2).fill('AUTHORITY_REVOKED'));
    const inside = await deployment.createTenants({ orgId: org });
    const { rpDid, rpKey } = inside;
    expect(await reasonsOf(grant, { ...tenants, rpDid, rpKey })).toEqual(
      Array(2).fill('SERVICE_UNAVAILABLE'),
    );
    await resume(admin, { scope: 'org', subject: org });
    expect(await reasonsOf(held, outside)).toEqual([null, null]);
    expect(await reasonsOf(grant, { ...tenants, rpDid, rpKey })).toEqual([null, null]);
  });

  it('does not prevent a revocation, and the Grant stays revoked after the resume', async () => {
    const held = await issueGrant(tenants);
    const target = { scope: 'grant', subject: held.grantId };
    await pause(tenants.principalKey, target);
    await deployment.call('POST', '/revoke', { key: tenants.principalKey, body: { grant_id: held.grantId } });
    await resume(tenants.principalKey, target);
    const [receipt] = await decideEverywhere(held);
    expect([receipt?.reason, receipt?.evidence.status === undefined]).toEqual(['AUTHORITY_REVOKED', false]);
  });

  it('takes effect while the row of the status list is locked, as when the list is signed anew', async () => {
    const target = { scope: 'grant', subject: grant.grantId };
    await withSession(deployment.databaseUrl, async (session) => {
      await session.query('begin');
      await session.query('select from status_lists where principal = $1 for update', [tenants.principalDid]);
      expect((await pause(tenants.principalKey, target)).status).toBe(200);
      expect(await reasonsOf(grant)).toEqual(Array(2).fill('AUTHORITY_REVOKED'));
      expect((await resume(tenants.principalKey, target)).status).toBe(200);
      await session.query('rollback');
    });
  });

  it('is refused with 404 for an unknown Grant or Agent, and with 400 for a wrong scope, parameter or long reason', async () => {
    const unknown = [
      { scope: 'grant', subject: 'urn:svc:grant:00000000000000000000000000' },
      { scope: 'grant', subject: 'x' },
      { scope: 'agent', subject: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' },
      { scope: 'agent', subject: 'x' },
    ];
    for (const body of unknown) expect((await pause(tenants.principalKey, body)).status).toBe(404);
    expect((await pause(tenants.principalKey, { scope: 'service', subject: 'service' })).status).toBe(400);
    for (const scope of ['relying_party', 'org'] as const) {
      const asked = { scope, subject: scope === 'org' ? orgId : tenants.rpDid };
      const answer = await pause(orgAdmin, asked, `?principal=${tenants.principalDid}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('leave it out')]);
    }
    const long = { scope: 'grant', subject: grant.grantId, reason: 'x'.repeat(501) };
    expect((await pause(tenants.principalKey, long)).status).toBe(400);
  });
});

describe('While the Principal is paused', () => {
  const own = () => ({ scope: 'principal', subject: tenants.principalDid });

  it('denied verifications draw nothing from the budget, nor while the relying party is paused', async () => {
    const v2 = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const asked = { ...tenants, rpDid: v2.rpDid, rpKey: v2.rpKey };
    const held = await issueBudget(tenants, totalOf(300));
    const draw = async () =>
      receiptOf(
        await deployment.call('POST', '/verify', {
          key: asked.rpKey,
          body: await bodyFor(asked, held, buy(100)),
        }),
      ).reason;
    expect(await draw()).toBeNull();
    await pause(tenants.principalKey, own());
    expect(await Promise.all([draw(), draw(), draw(), draw()])).toEqual(Array(4).fill('AUTHORITY_REVOKED'));
    await resume(tenants.principalKey, own());
    await pause(v2.rpKey, { scope: 'relying_party', subject: v2.rpDid });
    expect(await draw()).toBe('SERVICE_UNAVAILABLE');
    await resume(v2.rpKey, { scope: 'relying_party', subject: v2.rpDid });
    expect([await draw(), await draw(), await draw()]).toEqual([null, null, 'AMOUNT_EXCEEDS_AUTHORITY']);
  });

  it('AuthZEN answers false, for a single evaluation and in a batch', async () => {
    const asked = async () => {
      const { grant: presented, proof } = await verifyBody(tenants, grant);
      return {
        subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
        action: { name: ACTION.type, properties: { amount: ACTION.amount, currency: ACTION.currency } },
        resource: { type: 'order', id: ACTION.resource },
      };
    };
    const evaluate = async () => {
      const key = tenants.rpKey;
      const one = await deployment.call('POST', '/access/v1/evaluation', { key, body: await asked() });
      const body = { evaluations: [await asked()] };
      const many = await deployment.call('POST', '/access/v1/evaluations', { key, body });
      const [first] = many.json.evaluations as { decision: boolean }[];
      return [one.json.decision, first?.decision];
    };
    expect(await evaluate()).toEqual([true, true]);
    await pause(tenants.principalKey, own());
    expect(await evaluate()).toEqual([false, false]);
    await resume(tenants.principalKey, own());
    expect(await evaluate()).toEqual([true, true]);
  });

  it('a repeat under an Idempotency-Key gets the bytes of the first answer', async () => {
    const body = await verifyBody(tenants, grant);
    const send = (key: string) =>
      deployment.call('POST', '/verify', { key: tenants.rpKey, body, headers: { 'idempotency-key': key } });
    const first = await send('pause-1');
    expect(receiptOf(first).decision).toBe('ALLOW');
    await pause(tenants.principalKey, own());
    const repeat = await send('pause-1');
    expect([repeat.text, repeat.headers['svc-idempotent-replay']]).toEqual([first.text, 'true']);
    expect(receiptOf(await send('pause-2')).decision).toBe('DENY');
    await resume(tenants.principalKey, own());
  });
});

it.each(SCOPES)(
  'The Receipt of a DENY for %s that is paused is valid, and its audit lists the pause as an assumption',
  async (_what, arrange) => {
    const { key, target } = arrange();
    await pause(key, target);
    const body = await verifyBody(tenants, grant);
    const { text } = await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
    await resume(key, target);
    const serviceDidDocument = (await deployment.call('GET', '/.well-known/did.json')).json;
    expect(verifyReceipt(JSON.parse(text), serviceDidDocument)).toMatchObject({ ok: true });
    const { issuer_resolution: resolution } = receiptOf({ status: 200, headers: {}, text }).evidence;
    const hash = resolution?.did_document_hash ?? '';
    const document = await deployment.call('GET', `/evidence/${hash}`);
    const audited = audit({
      ...{ receipt: text, serviceDidDocument, crypto: nativeCrypto },
      ...{ grant: body.grant, proof: body.proof, action: body.action },
      relyingParty: { proofWindowSeconds: 60 },
      evidence: { [hash]: document.text },
    });
    expect(audited).toMatchObject({ ok: true, undecided: false, differences: [] });
    expect(audited.assumed).toContainEqual({
      path: '/protocol/checks/P6',
      statement: expect.stringContaining('paused'),
    });
  },
);
