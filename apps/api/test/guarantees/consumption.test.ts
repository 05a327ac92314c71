/**
 * Consumable Grants over HTTP (interface §Consumable Grants): what is used up, what is returned, and what an auditor
 * concludes from it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Action, type JsonObject, jcs, sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { purchase } from '@svc/sdk-principal';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import {
  awayFromTheEndOf,
  bodyFor,
  buy,
  CALL,
  countAnswers,
  issueBudget,
  PURCHASE,
  totalOf,
  usesOf,
} from '../world/budgets.ts';
import { contractCall } from '../world/contract-call.ts';
import { withDeployment } from '../world/deployment.ts';
import { type HeldGrant, receiptOf, type Tenants, untilSettled } from '../world/tenants.ts';

const deployment = withDeployment();
const folder = mkdtempSync(join(tmpdir(), 'svc-consumption-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let tenants: Tenants;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
});

const send = async (grant: HeldGrant, action: Action, as = tenants) => {
  const body = await bodyFor({ agent: tenants.agent, rpDid: as.rpDid }, grant, action);
  const answer = await deployment.call('POST', '/verify', { key: as.rpKey, body });
  return { body, answer, receipt: receiptOf(answer) };
};
const decide = async (grant: HeldGrant, action: Action, as = tenants) => {
  const { decision, reason } = (await send(grant, action, as)).receipt;
  return reason ?? decision;
};

interface Consumption {
  readonly version: number;
  readonly snapshot_hash: string;
  readonly capabilities: readonly JsonObject[];
  readonly events: readonly { readonly version: number; readonly cause: string; readonly cause_id: string }[];
  readonly next_cursor: number | null;
}

const read = async (grantId: string, query = '', key = ADMIN_TOKEN) =>
  (await deployment.call('GET', `/grants/${grantId}/consumption${query}`, { key }))
    .json as unknown as Consumption;

const report = (receiptId: string, event: object, node = 0) =>
  contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', `/decisions/${receiptId}/outcomes`, {
    key: tenants.rpKey,
    body: { occurred_at: '2026-01-01T00:00:00Z', ...event },
  });

describe('a budget', () => {
  it('is consumed by each ALLOW; the Receipt names the balances before it, the event has the next version', async () => {
    await awayFromTheEndOf('day', 10_000);
    const grant = await issueBudget(
      tenants,
      purchase({ ...PURCHASE, maxTotalMinor: 500, maxPerPeriodMinor: 400, period: 'day', maxUses: 5 }),
    );
    const untouched = await read(grant.grantId);
    expect(untouched).toMatchObject({ version: 0, capabilities: [], events: [], next_cursor: null });
    const { receipt } = await send(grant, buy(300));
    expect(receipt.evidence.consumption).toEqual({
      key: sha256Of(nativeCrypto, jcs(receipt.authority as unknown as JsonObject)),
      version: 0,
      snapshot_hash: untouched.snapshot_hash,
    });
    const after = await read(grant.grantId);
    const periodStart = `${receipt.evaluated_at.slice(0, 10)}T00:00:00.000Z`;
    expect(after).toEqual({
      grant_id: grant.grantId,
      principal: tenants.principalDid,
      agent: tenants.agent.did,
      version: 1,
      as_of: expect.any(String),
      snapshot_hash: sha256Of(
        nativeCrypto,
        jcs({ grant_id: grant.grantId, version: 1, capabilities: after.capabilities as JsonObject[] }),
      ),
      capabilities: [
        {
          key: receipt.evidence.consumption?.key,
          spent_total: 300,
          spent_in_period: 300,
          period_start: periodStart,
          uses_spent: 1,
          limits: { total: 500, per_period: 400, uses: 5 },
          remaining: { total: 200, per_period: 100, uses: 4 },
          updated_at: receipt.evaluated_at,
        },
      ],
      events: [
        {
          version: 1,
          key: receipt.evidence.consumption?.key,
          delta_total: 300,
          delta_period: 300,
          delta_uses: 1,
          period_start: periodStart,
          cause: 'consume',
          cause_id: receipt.receipt_id,
          receipt_id: receipt.receipt_id,
          recorded_at: receipt.evaluated_at,
        },
      ],
      next_cursor: null,
    });
    expect(await decide(grant, buy(101))).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    expect(await decide(grant, buy(100))).toBe('ALLOW');
    expect((await read(grant.grantId)).version).toBe(2);
  });

  it('is shared by all relying parties with svc-base-v2; with svc-base-v1 the Grant is denied with UNKNOWN_CONSTRAINT', async () => {
    const other = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const old = await deployment.createTenants();
    const grant = await issueBudget(tenants, usesOf(2));
    expect(await decide(grant, CALL)).toBe('ALLOW');
    expect(await decide(grant, CALL, other)).toBe('ALLOW');
    expect(await decide(grant, CALL, old)).toBe('UNKNOWN_CONSTRAINT');
    for (const as of [tenants, other]) expect(await decide(grant, CALL, as)).toBe('AMOUNT_EXCEEDS_AUTHORITY');
  });

  it('is usable after the relying party changes its profile from svc-base-v1 to svc-base-v2', async () => {
    const changing = await deployment.createTenants();
    const grant = await issueBudget(tenants, usesOf(1));
    expect(await decide(grant, CALL, changing)).toBe('UNKNOWN_CONSTRAINT');
    const change = { key: ADMIN_TOKEN, body: { profile: 'svc-base-v2' } };
    const changed = await deployment.call('PATCH', `/relying-parties/${changing.rpDid}`, change);
    expect(changed).toMatchObject({ status: 200, json: { profile: 'svc-base-v2' } });
    const { receipt } = await send(grant, CALL, changing);
    expect([receipt.decision, receipt.protocol.profile]).toEqual(['ALLOW', 'svc-base-v2']);
    const profile = await deployment.call('GET', `/evidence/${receipt.protocol.profile_hash}`);
    expect([profile.status, profile.json.profile]).toEqual([200, 'svc-base-v2']);
  });

  it('that is too low for an Action is skipped for another Capability that covers it', async () => {
    const grant = await issueBudget(tenants, totalOf(100), purchase(PURCHASE));
    const first = await send(grant, buy(80));
    const second = await send(grant, buy(80));
    expect(first.receipt.evidence.consumption?.version).toBe(0);
    expect([second.receipt.decision, second.receipt.evidence.consumption]).toEqual(['ALLOW', undefined]);
    expect((await read(grant.grantId)).version).toBe(1);
  });
});

describe('the outcome', () => {
  it('cancelled restores the budget once, and its correction reverses that once; the Attestations say so', async () => {
    const grant = await issueBudget(tenants, usesOf(1));
    const { receipt } = await send(grant, CALL);
    const id = receipt.receipt_id;
    expect(await decide(grant, CALL)).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    expect((await report(id, { type: 'fulfilled' })).json.consumption).toBeUndefined();
    const cancelled = await report(id, { type: 'cancelled' });
    expect(cancelled.json.consumption).toEqual({ cause: 'restore', version: 2 });
    const again = await report(id, { type: 'cancelled' });
    expect([again.status, again.json.consumption]).toEqual([201, undefined]);
    expect(await decide(grant, CALL)).toBe('ALLOW');

    const correction_of = cancelled.json.attestation_id;
    const other = await report(id, { type: 'fulfilled', correction_of: again.json.attestation_id });
    expect(other.json.consumption).toBeUndefined();
    const corrected = await report(id, { type: 'fulfilled', correction_of });
    expect(corrected.json.consumption).toEqual({ cause: 'restore_reversal', version: 4 });
    expect((await report(id, { type: 'cancelled' })).json.consumption).toBeUndefined();

    const { capabilities, events, version } = await read(grant.grantId);
    expect([version, capabilities[0]?.uses_spent, capabilities[0]?.remaining]).toEqual([
      4,
      2,
      { total: null, per_period: null, uses: 0 },
    ]);
    expect(events.map(({ cause, cause_id }) => [cause, cause_id])).toEqual([
      ['restore_reversal', corrected.json.attestation_id],
      ['consume', expect.stringMatching(/^drc_/)],
      ['restore', correction_of],
      ['consume', id],
    ]);
    const decision = await deployment.call('GET', `/decisions/${id}`, { key: tenants.rpKey });
    const outcomes = decision.json.outcomes as { consumption?: object }[];
    expect(outcomes.flatMap(({ consumption }) => consumption ?? [])).toHaveLength(2);
  });

  it('cancelled by a correction also restores once, and a correction of that one reverses it for good', async () => {
    const grant = await issueBudget(tenants, usesOf(1));
    const { receipt } = await send(grant, CALL);
    const id = receipt.receipt_id;
    const idOf = ({ json }: { json: Record<string, unknown> }) => String(json.attestation_id);
    const fulfilled = await report(id, { type: 'fulfilled' });
    const cancelled = await report(id, { type: 'cancelled', correction_of: idOf(fulfilled) });
    expect(cancelled.json.consumption).toEqual({ cause: 'restore', version: 2 });
    const taken = await report(id, { type: 'fulfilled', correction_of: idOf(cancelled) });
    expect(taken.json.consumption).toEqual({ cause: 'restore_reversal', version: 3 });
    expect(await decide(grant, CALL)).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    for (const correction_of of [idOf(cancelled), idOf(taken)])
      expect((await report(id, { type: 'cancelled', correction_of })).status).toBe(400);
    expect((await report(id, { type: 'cancelled' })).json.consumption).toBeUndefined();
  });

  it('cancelled for a decision that consumed nothing restores nothing', async () => {
    const grant = await issueBudget(tenants, usesOf(0));
    const { receipt } = await send(grant, CALL);
    expect((await report(receipt.receipt_id, { type: 'cancelled' })).json.consumption).toBeUndefined();
  });

  it('cancelled 12 times concurrently restores once, and is reversed once', async () => {
    const grant = await issueBudget(tenants, usesOf(3));
    const { receipt } = await send(grant, CALL);
    const many = (event: object) =>
      Promise.all(Array.from({ length: 12 }, (_, i) => report(receipt.receipt_id, event, i % 2)));
    const restored = (await many({ type: 'cancelled' })).filter(({ json }) => json.consumption !== undefined);
    expect(restored).toHaveLength(1);
    const correction_of = restored[0]?.json.attestation_id;
    const reversed = await many({ type: 'dispute_opened', correction_of });
    expect(reversed.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await read(grant.grantId)).events.map(({ cause }) => cause)).toEqual([
      ...['restore_reversal', 'restore', 'consume'],
    ]);
  });

  it('cancelled during verifications makes exactly the restored uses available', async () => {
    const grant = await issueBudget(tenants, usesOf(10));
    const consumed = await Promise.all(Array.from({ length: 10 }, () => send(grant, CALL)));
    const bodies = await Promise.all(Array.from({ length: 30 }, () => bodyFor(tenants, grant, CALL)));
    // Each call has its own idempotency key: one that a busy machine answered 503 is repeated, and gets the stored
    // answer.
    const verify = (body: object, index: number) =>
      untilSettled(() =>
        deployment.call('POST', '/verify', {
          key: tenants.rpKey,
          body,
          headers: { 'idempotency-key': `beside-${index}` },
        }),
      );
    const cancel = ({ receipt }: { receipt: { receipt_id: string } }) =>
      untilSettled(() => report(receipt.receipt_id, { type: 'cancelled' }));
    const [answers] = await Promise.all([
      Promise.all(bodies.map(verify)),
      Promise.all(consumed.slice(0, 6).map(cancel)),
    ]);
    const { ALLOW = 0, AMOUNT_EXCEEDS_AUTHORITY: denied = 0 } = countAnswers(answers);
    expect(ALLOW + denied).toBe(30);
    expect(ALLOW).toBeLessThanOrEqual(6);
    const left = (await read(grant.grantId)).capabilities[0]?.remaining;
    expect(left).toEqual({ total: null, per_period: null, uses: 6 - ALLOW });
  });
});

describe('svc-receipt audit', () => {
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  it('re-evaluates Receipts of the service from the pages of the log', async () => {
    const grant = await issueBudget(tenants, totalOf(1_000), usesOf(5));
    await decide(grant, buy(300));
    const { receipt, answer, body } = await send(grant, buy(500));
    await decide(grant, buy(100));
    await report(receipt.receipt_id, { type: 'cancelled' });
    expect(receipt.evidence.consumption?.version).toBe(1);

    mkdirSync(join(folder, 'evidence'));
    const { issuer_resolution: resolution, status } = receipt.evidence;
    for (const hash of [resolution?.did_document_hash, status?.credential_hash])
      write(
        join('evidence', String(hash).slice(7)),
        (await deployment.call('GET', `/evidence/${hash}`)).text,
      );
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const { text, json } = await deployment.call(
        'GET',
        `/grants/${grant.grantId}/consumption?limit=2${cursor}`,
        { key: tenants.rpKey },
      );
      pages.push('--consumption', write(`page-${pages.length}.json`, text));
      if (json.next_cursor === null) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    expect(pages).toHaveLength(4);
    const program = programFile('packages/cli', 'svc-receipt.js');
    const run = (consumption: readonly string[]) =>
      spawnSync(
        process.execPath,
        [
          program,
          'audit',
          write('receipt.json', answer.text),
          ...['--grant', write('grant', body.grant), '--proof', write('proof', body.proof)],
          ...['--action', write('action.json', JSON.stringify(body.action)), '--proof-window', '60'],
          ...['--did-document', didDocument, '--evidence', join(folder, 'evidence'), ...consumption],
        ],
        { encoding: 'utf8' },
      );
    const didDocument = write('did.json', (await deployment.call('GET', '/.well-known/did.json')).text);
    const right = run(pages);
    expect([right.status, right.stderr]).toEqual([0, '']);
    expect(run([]).status).not.toBe(0);
  });
});
