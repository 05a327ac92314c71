/**
 * `POST /access/v1/requests`: which denials can be asked about, that each is asked once, and that no Principal is
 * flooded.
 */
import { randomBytes } from 'node:crypto';
import { type DidWeb, encodeUlid, type ReceiptId } from '@svc/protocol';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { type RpCaller, requestApproval } from '@svc/service';
import { untilWaiting, withSession } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  askAbout,
  askedOf,
  DEAR,
  proofOf,
  reject,
  statusOf,
  verifyAction,
} from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
const V2 = { rp: { profile: 'svc-base-v2' } };
let tenants: Tenants;
let grant: HeldGrant;

beforeAll(async () => {
  tenants = await deployment.createTenants(V2);
  grant = await issueGrant(tenants);
});

const about = (receiptId: string, more: object = {}, by = tenants) =>
  askAbout(deployment, by, receiptId, more);
const denied = (action = DEAR as Parameters<typeof verifyAction>[3], by = tenants, held = grant) =>
  verifyAction(deployment, by, held, action);

describe('An access request answers 202', () => {
  it('and shows the Action of the decision and a one-use Capability for exactly this Action', async () => {
    const { receipt_id } = await denied();
    const { json } = await about(receipt_id, { expires_in_seconds: 60 });
    expect(json).toMatchObject({
      task: { status: 'pending', status_endpoint: expect.stringContaining('/access/v1/requests/arq_') },
      relying_party: tenants.rpDid,
      principal: tenants.principalDid,
      grant_id: grant.grantId,
      agent: tenants.agent.did,
      action: DEAR,
      capability: {
        action: 'commerce:purchase',
        constraints: { maxAmount: 90_000, currency: 'USD', maxUses: 1 },
        resources: ['order/7'],
      },
      result: null,
    });
    const { expires_at } = json.task as { expires_at: string };
    expect(Date.parse(expires_at) - Date.parse(String(json.requested_at))).toBe(60_000);
  });

  it('with the same request for every denial of the same Action while it is open, also to concurrent calls', async () => {
    const action = { ...DEAR, resource: 'order/same' };
    const receipts = await Promise.all(Array.from({ length: 4 }, () => denied(action)));
    const asked = await Promise.all(
      [...receipts, ...receipts].map(({ receipt_id }) => about(receipt_id).then(askedOf)),
    );
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    const [first] = asked;
    await reject(deployment, tenants, String(first?.id));
    for (const { receipt_id } of receipts) expect(statusOf(await about(receipt_id))).toBe('denied');
  });

  it('and, for an API call, a Capability with exactly its method and its normalized URL', async () => {
    const { receipt_id } = await denied({
      type: 'api:call',
      method: 'POST',
      resource: 'https://api.example/v1/x',
    });
    expect((await about(receipt_id)).json.capability).toEqual({
      action: 'api:call',
      constraints: { methods: ['POST'], maxUses: 1 },
      resources: ['https://api.example/v1/x'],
    });
  });

  it('and writes one audit event approval.request to the relying party’s log, even if the call is repeated', async () => {
    const { receipt_id } = await denied({ ...DEAR, resource: 'order/audited' });
    const { id } = askedOf(await about(receipt_id));
    await about(receipt_id);
    const { json } = await deployment.call('GET', `/audit?target=${id}`, { key: tenants.rpKey });
    expect(json.events).toMatchObject([{ action: 'approval.request', details: { receipt_id } }]);
  });
});

it('An access request that waits for another to the same Principal locks neither the Principal’s row nor the key’s', async () => {
  const own = await deployment.createTenants(V2);
  const held = await issueGrant(own);
  const { receipt_id } = await denied(DEAR, own, held);
  const { databaseUrl } = deployment;
  const asked = await withSession(databaseUrl, async (other) => {
    await other.query('begin');
    await other.query('select pg_advisory_xact_lock(13, hashtext($1))', [own.principalDid]);
    const asking = about(receipt_id, {}, own);
    await withSession(databaseUrl, async (session) => {
      await untilWaiting(session);
      // Takes the lock as a revocation does, without waiting.
      await session.query('select from principals where did = $1 for no key update nowait', [
        own.principalDid,
      ]);
      await session.query('select from api_keys where subject = $1 for no key update nowait', [own.rpDid]);
    });
    const path = `/agents/${encodeURIComponent(own.agent.did)}/disable`;
    const { status } = await deployment.call('POST', path, { key: own.principalKey });
    expect(status).toBe(200);
    await other.query('rollback');
    return asking;
  });
  expect(statusOf(asked)).toBe('pending');
});

it('An access request takes the Receipt and the Proof from the primary, not from the report database', async () => {
  const { service } = deployment.process;
  const own = await deployment.createTenants(V2);
  const held = await issueGrant(own);
  const one = await denied(DEAR, own, held);
  const { store } = service;
  const [stored] = await store.decisions.listForExport([one.receipt_id as ReceiptId], 'jws');
  const row = { ...stored, amount: 1, resource: 'order/another' };
  const decisions = {
    ...store.decisions,
    listForExport: async () => [row],
    list: async () => ({ items: [row] }),
  };
  const report = (work: (from: object) => unknown) => work({ ...store, decisions });
  const relyingParty = await store.relyingParties.find(own.rpDid as DidWeb);
  const key = await store.apiKeys.findNewestLive(own.rpDid, 'rp');
  const caller = {
    ...{ class: 'rp', subject: own.rpDid, keyId: key?.keyId, key, relyingParty },
    ...{ entitlement: null, isPaused: false, isNewcomer: false },
  } as RpCaller;
  const asked = await requestApproval(
    { ...service, store: Object.create(store, { report: { value: report } }) },
    caller,
    {
      ...{ receiptId: one.receipt_id as ReceiptId, proof: proofOf(one.receipt_id) },
      ...{ expiresInSeconds: 60, requestId: 'request' },
    },
  );
  expect(asked).toMatchObject({
    ...{ receiptId: one.receipt_id, principal: own.principalDid, grantId: held.grantId },
    ...{ agent: own.agent.did, action: DEAR },
  });
});

describe('An access request is refused', () => {
  it('with 404 if the Receipt is not a decision of the caller, and with 409 if its day is not stored any more', async () => {
    const other = await deployment.createTenants(V2);
    const { receipt_id } = await denied({ ...DEAR, resource: 'order/other' });
    expect((await about(receipt_id, {}, other)).status).toBe(404);
    await about(receipt_id);
    expect((await about(receipt_id, {}, other)).status).toBe(404);
    expect((await about(`drc_${encodeUlid(Date.now(), randomBytes(10))}`)).status).toBe(404);
    // Nothing is stored of its day: too old, whoever it belongs to.
    expect((await about('drc_01KAGT3Z5M8Q2R7V9X1C4E6H8K')).status).toBe(409);
  });

  it('with 409 for an ALLOW and for a DENY by any check that a new Capability cannot satisfy', async () => {
    const allowed = await verifyBody(tenants, await issueGrant(tenants));
    const verify = async (body: object) =>
      receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
    expect((await about((await verify(allowed)).receipt_id)).text).toMatch(/is an ALLOW/);
    const replayed = await verify(allowed);
    expect(replayed.reason).toBe('PROOF_REPLAYED');
    const stranger = { ...tenants, agent: agentFromJwk((await generateAgentKey()).privateJwk) };
    const revoked = await issueGrant(tenants);
    await tenants.principal.grants.revoke(revoked.grantId);
    const forged = { ...grant, grant: `${grant.grant.slice(0, -8)}AAAAAAAA` };
    const cases: readonly (readonly [string, string])[] = [
      [replayed.receipt_id, 'T5'],
      [(await denied(DEAR, tenants, forged)).receipt_id, 'P3'],
      [(await denied(DEAR, tenants, revoked)).receipt_id, 'P6'],
      [(await denied(DEAR, stranger)).receipt_id, 'P10'],
      [(await verify({ ...allowed, action: DEAR })).receipt_id, 'P14'],
      [(await verify({ ...allowed, proof: '' })).receipt_id, 'P8'],
      [(await verify({ grant: '', proof: '', action: {} })).receipt_id, 'P1'],
    ];
    for (const [receiptId, check] of cases) {
      const answer = await about(receiptId);
      expect([answer.status, String(answer.json.message)], check).toEqual([
        409,
        expect.stringContaining(`failed at ${check}`),
      ]);
    }
  });

  it("with 409 if the relying party's profile does not support maxUses; the message names svc-base-v2", async () => {
    const old = await deployment.createTenants();
    const { receipt_id } = await denied(DEAR, old, await issueGrant(old));
    const answer = await about(receipt_id, {}, old);
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('svc-base-v2')]);
  });

  it('with 409 if the Grant was revoked or paused after the denial', async () => {
    const held = await issueGrant(tenants);
    const first = await denied(DEAR, tenants, held);
    const pause = { scope: 'grant', subject: held.grantId } as const;
    await tenants.principal.pauses.pause(pause);
    expect((await about(first.receipt_id)).text).toMatch(/paused/);
    await tenants.principal.pauses.resume(pause);
    await tenants.principal.grants.revoke(held.grantId);
    expect((await about(first.receipt_id)).text).toMatch(/revoked since/);
  });

  it('with 400 if no Grant can name the resource exactly (wildcard or too long)', async () => {
    for (const resource of ['order/*', '*', `order/${'x'.repeat(600)}`]) {
      const { receipt_id } = await denied({ ...DEAR, resource });
      expect((await about(receipt_id)).status, resource).toBe(400);
    }
  });

  it('with 400 if the resource has invisible or misleading characters', async () => {
    for (const resource of ['order/\u202e7', 'order/\u200b7', 'order/7\nApproved before', 'order/7  of 8']) {
      const { receipt_id } = await denied({ ...DEAR, resource });
      const answer = await about(receipt_id);
      expect([answer.status, answer.text], resource).toEqual([400, expect.stringContaining('not seen')]);
    }
  });

  it('with 400 if the Proof is not the one of the decision', async () => {
    const own = await deployment.createTenants(V2);
    const { receipt_id } = await denied(DEAR, own, await issueGrant(own));
    const answer = await about(receipt_id, { proof: 'a.b.c' }, own);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('proof: not the one')]);
    const { json } = await about(receipt_id, {}, own);
    expect(json).toMatchObject({ receipt_id, proof: expect.stringMatching(/^ey/) });
  });

  it('with 409 if the Principal denied five requests about the Agent, for any relying party and resource', async () => {
    const tired = await deployment.createTenants(V2);
    const held = await issueGrant(tired);
    for (let n = 0; n < 5; n++) {
      const { id } = await ask(deployment, tired, held, { ...DEAR, resource: `order/n${n}` });
      await reject(deployment, tired, id);
    }
    const { rpDid, rpKey } = await deployment.createTenants(V2);
    const colluding = { ...tired, rpDid, rpKey };
    for (const by of [tired, colluding]) {
      const receipt = await denied({ ...DEAR, resource: 'order/again' }, by, held);
      const answer = await about(receipt.receipt_id, {}, by);
      expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('about this Agent')]);
    }
    const other = { ...tired, agent: agentFromJwk((await generateAgentKey()).privateJwk) };
    const receipt = await denied({ ...DEAR, resource: 'order/again' }, other, await issueGrant(other));
    expect((await about(receipt.receipt_id, {}, other)).status).toBe(202);
  });

  it('with 429 after twenty requests about one Agent in an hour, across all relying parties', async () => {
    const busy = await deployment.createTenants(V2);
    const held = await issueGrant(busy);
    const { id } = await ask(deployment, busy, held);
    await deployment.sql.query(
      `insert into approval_requests select (jsonb_populate_record(r, jsonb_build_object('request_id', 'arq_' || lpad(n || '', 26, '0'),
         'relying_party', r.relying_party || n, 'state', 'cancelled', 'decided_at', now()))).*
       from approval_requests r, generate_series($2::integer, $2::integer + 18) n where request_id = $1`,
      [id, randomBytes(3).readUIntBE(0, 3)],
    );
    const receipt = await denied({ ...DEAR, resource: 'order/more' }, busy, held);
    const answer = await about(receipt.receipt_id, {}, busy);
    expect([answer.status, answer.text]).toEqual([429, expect.stringContaining('about this Agent')]);
  });

  it('with 409 for 24 h after the Principal denied the same Action', async () => {
    const action = { ...DEAR, resource: 'order/no' };
    const { id } = await ask(deployment, tenants, grant, action);
    await reject(deployment, tenants, id, { reason: 'no' });
    const again = await about((await denied(action)).receipt_id);
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('24 h')]);
  });

  it('with 429 if the Agent has five open requests, until one of them is decided', async () => {
    const busy = await deployment.createTenants(V2);
    const held = await issueGrant(busy);
    const receipts = await Promise.all(
      Array.from({ length: 8 }, (_, n) => denied({ ...DEAR, resource: `order/${n}x` }, busy, held)),
    );
    const answers = await Promise.all(receipts.map(({ receipt_id }) => about(receipt_id, {}, busy)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 202, 429, 429, 429]);
    const refused = answers.findIndex(({ status }) => status === 429);
    expect(answers[refused]?.headers['retry-after']).toBe('60');
    const taken = answers.find(({ status }) => status === 202);
    await reject(deployment, busy, askedOf(taken as never).id);
    expect((await about(String(receipts[refused]?.receipt_id), {}, busy)).status).toBe(202);
  });

  it('with 429 after twenty requests of one relying party to a Principal in an hour, in any state', async () => {
    const busy = await deployment.createTenants(V2);
    const { id } = await ask(deployment, busy, await issueGrant(busy));
    await deployment.sql.query(
      `insert into approval_requests select (jsonb_populate_record(r, jsonb_build_object('request_id', 'arq_' || lpad(n || '', 26, '0'),
         'agent', r.agent || n, 'state', 'cancelled', 'decided_at', now()))).*
       from approval_requests r, generate_series($2::integer, $2::integer + 18) n where request_id = $1`,
      [id, randomBytes(3).readUIntBE(0, 3)],
    );
    const receipt = await denied({ ...DEAR, resource: 'order/more' }, busy, await issueGrant(busy));
    const answer = await about(receipt.receipt_id, {}, busy);
    expect([answer.status, answer.text]).toEqual([429, expect.stringContaining('within an hour')]);
  });
});
