/** `POST /decisions/{receipt_id}/outcomes` (interface §Outcome attestations): the ledger of a decision's outcomes. */
import { encodeUlid } from '@svc/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { contractCall } from '../../world/contract-call.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, untilSettled, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let own: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
});

const AT = '2026-11-20T08:00:00.123456789Z';
const FULFILLED = { type: 'fulfilled', occurred_at: AT };
const LOSS = { type: 'loss_reported', occurred_at: AT, loss_amount: 42_700, currency: 'USD' };
const RESOLVED = { type: 'dispute_resolved', occurred_at: AT, resolution: 'indeterminate' };

const decide = async (tenants = own): Promise<string> => {
  const body = await verifyBody(tenants, await issueGrant(tenants));
  return receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body })).receipt_id;
};
const report = (receiptId: string, body: unknown, key = own.rpKey, query = '') =>
  deployment.call('POST', `/decisions/${receiptId}/outcomes${query}`, { key, body });
const ledgerOf = async (receiptId: string) =>
  (await deployment.call('GET', `/decisions/${receiptId}`, { key: ADMIN_TOKEN })).json.outcomes as {
    attestation_id: string;
    correction_of?: string;
  }[];
const idOf = (answer: { json: Record<string, unknown> }) => String(answer.json.attestation_id);

describe('POST /decisions/{receipt_id}/outcomes', () => {
  it.each([
    ...['fulfilled', 'cancelled', 'dispute_opened', 'chargeback_received', 'chargeback_reversed'].map(
      (type) => ({ type, occurred_at: AT }),
    ),
    RESOLVED,
    LOSS,
    { ...LOSS, loss_amount: 0, occurred_at: '2000-02-29T23:59:59Z' },
    { ...FULFILLED, occurred_at: '2026-11-20t08:00:00.5+00:00' },
    { ...FULFILLED, occurred_at: '2026-11-20T08:00:00z' },
    { ...FULFILLED, resolution: 'indeterminate', loss_amount: 1, currency: 'USD' },
    { ...FULFILLED, currency: 'USD' },
    { ...RESOLVED, loss_amount: 1 },
    { ...LOSS, resolution: 'agent_at_fault' },
    { ...FULFILLED, evidence_ref: 's3://evidence/1', note: 'a\n"b"\t\u{1F6D2}', reporter_signature: '' },
  ])('returns and stores the outcome record as given: %j', async (event) => {
    const receiptId = await decide();
    const { status, json } = await report(receiptId, event);
    expect(status).toBe(201);
    expect(json).toEqual({
      ...event,
      attestation_id: expect.stringMatching(/^oat_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      reporter: own.rpDid,
      recorded_at: expect.stringMatching(/Z$/),
    });
    expect(await ledgerOf(receiptId)).toEqual([json]);
  });

  it('appends to the ledger of the decision, oldest first', async () => {
    const receiptId = await decide();
    const ids: string[] = [];
    for (const event of [LOSS, FULFILLED, RESOLVED, LOSS]) ids.push(idOf(await report(receiptId, event)));
    expect((await ledgerOf(receiptId)).map(({ attestation_id }) => attestation_id)).toEqual(ids);
  });

  it('accepts an outcome record of a DENY', async () => {
    const body = { grant: '', proof: '', action: {} };
    const denied = await deployment.call('POST', '/verify', { key: own.rpKey, body });
    expect((await report(receiptOf(denied).receipt_id, FULFILLED)).status).toBe(201);
  });

  it.each([
    {},
    [],
    { occurred_at: AT },
    { type: 'fulfilled' },
    { ...FULFILLED, type: 'delivered' },
    { ...FULFILLED, color: 'red' },
    { ...FULFILLED, attestation_id: `oat_${'0'.repeat(26)}` },
    { ...FULFILLED, resolution: 'nobody' },
    { ...FULFILLED, loss_amount: -1 },
    { ...FULFILLED, currency: 'usd' },
    { ...RESOLVED, resolution: undefined },
    { ...RESOLVED, resolution: 'nobody' },
    { ...LOSS, loss_amount: undefined },
    { ...LOSS, currency: undefined },
    { ...LOSS, currency: 'usd' },
    { ...LOSS, loss_amount: -1 },
    { ...LOSS, loss_amount: 1.5 },
    { ...LOSS, loss_amount: 2 ** 53 },
    { ...LOSS, loss_amount: '1' },
    { ...FULFILLED, occurred_at: '2026-11-20' },
    { ...FULFILLED, occurred_at: '2026-11-20T08:00:00+01:00' },
    { ...FULFILLED, occurred_at: '2026-02-30T08:00:00Z' },
    { ...FULFILLED, occurred_at: '2026-06-30T23:59:60Z' },
    { ...FULFILLED, occurred_at: '9999-12-31T23:59:59Z' },
    { ...FULFILLED, occurred_at: '9999-12-31t23:59:59+00:00' },
    { ...FULFILLED, note: 'a\u0000b' },
    { ...FULFILLED, note: 'a\u0001b' },
    { ...FULFILLED, note: '\ud800' },
    { ...FULFILLED, note: 'a'.repeat(2_001) },
    { ...FULFILLED, note: null },
    { ...FULFILLED, evidence_ref: 'a'.repeat(2_049) },
    { ...FULFILLED, reporter_signature: 'a'.repeat(4_097) },
    { ...FULFILLED, correction_of: 'drc_1' },
    { ...FULFILLED, correction_of: `oat_${'0'.repeat(26)}` },
  ])('refuses a record that breaks the interface with 400: %j', async (event) => {
    const { status, json } = await report(await sharedReceipt(), event);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
  });

  let shared: Promise<string> | undefined;
  const sharedReceipt = () => (shared ??= decide());

  it('stores nothing of a refused record', async () => {
    expect(await ledgerOf(await sharedReceipt())).toEqual([]);
  });

  it('accepts an occurred_at up to five minutes in the future, for clocks that run ahead', async () => {
    const ahead = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const receiptId = await decide();
    expect((await report(receiptId, { ...FULFILLED, occurred_at: ahead(4) })).status).toBe(201);
    const late = await report(receiptId, { ...FULFILLED, occurred_at: ahead(6) });
    expect([late.status, late.json.message]).toEqual([400, expect.stringContaining('occurred_at')]);
  });

  it('accepts 100 outcome records of a decision and refuses the next with 400', async () => {
    const receiptId = await decide();
    await deployment.sql.query(
      `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, evaluated_at, decision, type,
         occurred_at)
       select 'oat_' || lpad(n::text, 26, '0'), $1, n, $2, now(), 'ALLOW', 'fulfilled', $3
       from generate_series(1, 99) as n`,
      [receiptId, own.rpDid, AT],
    );
    expect((await report(receiptId, FULFILLED)).status).toBe(201);
    const more = await report(receiptId, FULFILLED);
    expect([more.status, more.json.message]).toEqual([400, expect.stringContaining('100')]);
  });
});

describe('A correction of an outcome record', () => {
  it('names a record of the same decision that is neither corrected nor itself a correction', async () => {
    const [receiptId, otherReceiptId] = [await decide(), await decide()];
    const [first, other] = [idOf(await report(receiptId, LOSS)), idOf(await report(otherReceiptId, LOSS))];
    const correct = (id: string) => report(receiptId, { ...LOSS, loss_amount: 1, correction_of: id });
    const correction = await correct(first);
    expect(correction.json).toMatchObject({ correction_of: first, loss_amount: 1 });
    for (const id of [first, idOf(correction), other]) {
      const { status, json } = await correct(id);
      expect([status, json.message]).toEqual([400, expect.stringContaining('correction_of')]);
    }
    expect(await ledgerOf(receiptId)).toHaveLength(2);
    // The outcome record that was corrected stays unchanged.
    expect((await ledgerOf(receiptId))[0]).toMatchObject({ attestation_id: first, loss_amount: 42_700 });
  });

  it('succeeds at most once per record among concurrent calls on two nodes, beside other reports', async () => {
    const receiptId = await decide();
    const first = idOf(await report(receiptId, LOSS));
    const correct = (index: number) => ({ ...LOSS, loss_amount: index, correction_of: first });
    const events = Array.from({ length: 16 }, (_, index) => [correct(index), FULFILLED]).flat();
    const answers = await Promise.all(
      events.map((body, index) => {
        const { baseUrl } = deployment.processes[(index >> 1) % 2] ?? deployment.process;
        return contractCall(baseUrl, 'POST', `/decisions/${receiptId}/outcomes`, { key: own.rpKey, body });
      }),
    );
    const statuses = (isCorrection: boolean) =>
      answers.filter((_, index) => (index % 2 === 0) === isCorrection).map(({ status }) => status);
    const isRefused = (status: number) => status === 400 || status === 503;
    const corrected = statuses(true).filter((status) => status === 201).length;
    expect(corrected).toBeLessThanOrEqual(1);
    expect(statuses(true).filter(isRefused)).toHaveLength(16 - corrected);
    // Where a busy machine stored none of them, it stores the next one.
    const last = await untilSettled(() => report(receiptId, correct(16)));
    expect(last.status).toBe(corrected === 1 ? 400 : 201);
    // On a busy machine some calls wait too long for a connection: they are answered 503, and nothing is stored.
    expect(statuses(false).every((status) => status === 201 || status === 503)).toBe(true);
    const ledger = await ledgerOf(receiptId);
    expect(ledger.filter((one) => one.correction_of === first)).toHaveLength(1);
    expect(ledger).toHaveLength(1 + [...answers, last].filter(({ status }) => status === 201).length);
  });
});

describe('The reporter of an outcome', () => {
  const audited = async (receiptId: string) =>
    (
      await deployment.sql.query<{ actor: string; did: string; key_id: string; details: object }>(
        `select actor_kind as actor, actor_did as did, actor_key_id as key_id, details
         from audit_events where target = $1 and action = 'outcome.report'`,
        [receiptId],
      )
    ).rows;

  it('may be the relying party of the Receipt; the act is audited in the same transaction', async () => {
    const receiptId = await decide();
    const answer = await report(receiptId, FULFILLED, own.rpKey, `?subject=${own.rpDid}`);
    const me = await deployment.call('GET', '/me', { key: own.rpKey });
    expect(await audited(receiptId)).toEqual([
      {
        actor: 'rp',
        did: own.rpDid,
        key_id: me.json.key_id,
        details: { attestation_id: idOf(answer), type: 'fulfilled', reporter: own.rpDid },
      },
    ]);
    expect(
      (await report(receiptId, { ...FULFILLED, correction_of: idOf(answer).toLowerCase() })).status,
    ).toBe(400);
    expect(await audited(receiptId)).toHaveLength(1);
    const { rows } = await deployment.sql.query(
      `select o.xmin::text = a.xmin::text as "isSameTransaction"
       from attestations o join audit_events a on a.target = o.receipt_id and a.action = 'outcome.report'
       where o.receipt_id = $1`,
      [receiptId],
    );
    expect(rows).toEqual([{ isSameTransaction: true }]);
  });

  it("may be its org with an admin key that names the relying party; the audit log records the org's key", async () => {
    const receiptId = await decide();
    const key = await deployment.createKey('org:admin', orgId);
    const answer = await report(receiptId, FULFILLED, key, `?subject=${own.rpDid}`);
    expect([answer.status, answer.json.reporter]).toEqual([201, own.rpDid]);
    const me = await deployment.call('GET', '/me', { key });
    expect(await audited(receiptId)).toMatchObject([{ actor: 'org', did: orgId, key_id: me.json.key_id }]);
    expect((await report(receiptId, FULFILLED, key)).status).toBe(400);
    const neighbour = await deployment.createTenants({ orgId });
    expect((await report(receiptId, FULFILLED, key, `?subject=${neighbour.rpDid}`)).status).toBe(404);
  });

  it('may not use a key that was revoked while the call was under way: 401, nothing stored', async () => {
    const receiptId = await decide();
    const key = await deployment.createKey('rp', own.rpDid);
    await deployment.sql.query('begin');
    await deployment.revokeKey(key);
    const answer = report(receiptId, FULFILLED, key);
    await deployment.untilWaiting(1);
    await deployment.sql.query('commit');
    expect((await answer).status).toBe(401);
    expect(await ledgerOf(receiptId)).toEqual([]);
  });

  it.each([
    'x',
    `oat_${'0'.repeat(26)}`,
    `drc_${'8'.repeat(26)}`,
    `drc_${encodeUlid(0, new Uint8Array(10))}`,
  ])('gets 404 for %s, which is not a decision', async (id) => {
    expect((await report(id, FULFILLED)).json.error).toBe('NOT_FOUND');
  });
});
