/**
 * Requests for approval in the database: decided once, never after they expire, and announced in the transaction that
 * records them.
 */
import { randomBytes } from 'node:crypto';
import type { Action, DidWeb, GrantId, OrgId, ReceiptId } from '@svc/protocol';
import { encodeUlid } from '@svc/protocol';
import {
  type ApprovalDecision,
  type ApprovalRecord,
  type EventAudience,
  type NewApproval,
  tidyApprovals,
} from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { insertSubscription, listTold } from '@svc/testkit/store/events';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  createWorld,
  hashOf,
  insertOrg,
  insertTransferred,
  newAgent,
  newGrantId,
  type World,
} from '@svc/testkit/store/world';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
let orgId: OrgId;
beforeEach(async () => {
  world = await createWorld(stores.first);
  orgId = await insertOrg(stores.first);
});

const ACTION: Action = { type: 'commerce:purchase', resource: 'order/7', amount: 900, currency: 'USD' };
const newAsk = (): NewApproval => ({
  requestId: `arq_${encodeUlid(Date.now(), randomBytes(10))}`,
  relyingParty: world.relyingParty.did,
  principal: world.principal.did,
  grantId: newGrantId(),
  agent: newAgent(),
  action: ACTION,
  actionHash: hashOf(JSON.stringify(ACTION)),
  expiresInSeconds: 900,
  receiptId: `drc_${encodeUlid(Date.now(), randomBytes(10))}` as ReceiptId,
  proof: 'a.b.c',
});
const insert = (): Promise<ApprovalRecord> => stores.first.approvals.insert(newAsk());
/** A request that expires in `ms` milliseconds; a negative number: that has expired. */
const insertDueIn = async (ms: number): Promise<string> => {
  const { requestId, relyingParty, principal, grantId, agent, actionHash } = newAsk();
  await runSql(
    stores.url,
    `insert into approval_requests (request_id, relying_party, principal, grant_id, agent, action, action_hash, requested_at, expires_at)
     values ('${requestId}', '${relyingParty}', '${principal}', '${grantId}', '${agent}', '${JSON.stringify(ACTION)}',
       '${actionHash}', now() - interval '1 hour', clock_timestamp() + interval '${ms} ms')`,
  );
  return requestId;
};
const approved = (grantId: GrantId = newGrantId(), untilMs = Date.now() + 60_000): ApprovalDecision => ({
  state: 'approved',
  grant: 'a.b.c',
  grantId,
  untilMs,
});
const DENIED: ApprovalDecision = { state: 'denied', reason: null };
const CANCELLED: ApprovalDecision = { state: 'cancelled' };
const stateOf = async (id: string) => (await stores.first.approvals.find(id))?.state;

/** Limit for a hundred rounds and more, on a machine that may be busy. */
const RACES_MS = sampled({ quick: 30_000, deep: 900_000 });

describe('a request for approval', () => {
  it(
    'accepts exactly one of concurrent approvals, denials and cancellations on two nodes',
    async () => {
      for (let round = 0; round < sampled({ quick: 6, deep: 200 }); round++) {
        const id = await insertDueIn(60_000);
        const settling: Promise<unknown>[] = [];
        await withSession(stores.url, async (session) => {
          await session.query('begin');
          await session.query('select from approval_requests where request_id = $1 for update', [id]);
          const both = [stores.first.approvals, stores.second.approvals];
          for (const approvals of both)
            for (const decision of [approved(), approved(), DENIED, CANCELLED])
              settling.push(approvals.decide(id, decision));
          await untilWaiting(session, 2);
          await session.query('commit');
        });
        const won = (await Promise.all(settling)).filter((record) => record !== null) as ApprovalRecord[];
        expect(won.length).toBe(1);
        expect(await stateOf(id)).toBe(won[0]?.state);
      }
    },
    RACES_MS,
  );

  it(
    'is approved before it expires or not at all, if an approval races the expiry',
    async () => {
      for (let round = 0; round < sampled({ quick: 10, deep: 500 }); round++) {
        const id = await insertDueIn(30);
        const grantId = newGrantId();
        const [record] = await Promise.all([
          runSql(
            stores.url,
            `select pg_sleep_until(expires_at + (random() - 0.5) * interval '4 ms') from approval_requests where request_id = '${id}'`,
          ).then(() => stores.first.approvals.decide(id, approved(grantId))),
          (async () => {
            while ((await stateOf(id)) === 'pending');
          })(),
        ]);
        const now = await stores.second.approvals.find(id);
        expect(now?.state).toBe(record === null ? 'expired' : 'approved');
        // A constraint ensures that it is earlier, in microseconds; the values here are milliseconds.
        if (now?.state === 'approved') expect(now.decidedAtMs).toBeLessThanOrEqual(now.expiresAtMs);
        expect(await stores.first.approvals.decide(id, approved())).toBeNull();
      }
    },
    RACES_MS,
  );

  /**
   * Runs everything that can end one request, at once and on two nodes. Answers the decisions that ended it, and what
   * is stored.
   */
  const endAtOnce = async (
    dueInMs: number,
    decide: (id: string, decision: ApprovalDecision) => Promise<ApprovalRecord | null>[],
  ) => {
    const id = await insertDueIn(dueInMs);
    const ends: Promise<unknown>[] = [];
    const decisions: Promise<ApprovalRecord | null>[] = [];
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select from approval_requests where request_id = $1 for update', [id]);
      for (const decision of [approved(), approved(), DENIED, CANCELLED])
        decisions.push(...decide(id, decision));
      ends.push(insertTransferred(stores.first, 'principal.verify', world.principal.did, orgId));
      ends.push(stores.second.approvals.expire(1_000));
      // The transfer always waits; a decision about a request that is due already has nothing to wait for.
      await untilWaiting(session);
      await session.query('commit');
    });
    const won = (await Promise.all(decisions)).flatMap((record) => record ?? []);
    await Promise.all(ends);
    return { won, state: await stateOf(id) };
  };

  it(
    'ends once and is emitted at most once under concurrent decisions, a DID transfer and the expiry',
    async () => {
      const audience: EventAudience = `rp ${world.relyingParty.did}`;
      await insertSubscription(stores.first, audience, ['approval.decided']);
      const told: string[] = [];
      for (let round = 0; round < sampled({ quick: 6, deep: 400 }); round++) {
        const both = [stores.first.approvals, stores.second.approvals];
        const dueInMs = round % 2 === 0 ? 60_000 : Math.random() * 60;
        const { won, state } = await endAtOnce(dueInMs, (id, decision) =>
          both.map((one) => one.decide(id, decision)),
        );
        expect(won.length).toBeLessThanOrEqual(1);
        expect(state).toBe(won[0]?.state ?? 'expired');
        if (state !== undefined && state !== 'cancelled') told.push(state);
      }
      const events = await listTold(stores.url, audience);
      expect(events.map(({ data }) => (JSON.parse(data) as { status: string }).status)).toEqual(told);
    },
    RACES_MS,
  );

  it('is decided several times if the trigger refuse_second_decision is disabled: the test can fail', async () => {
    const unguarded = (id: string, { state }: ApprovalDecision) =>
      runSql<ApprovalRecord>(
        stores.url,
        `update approval_requests set state = $2, decided_at = svc_now(),
           approved_grant_id = case $2 when 'approved' then $3 end,
           approved_until = case $2 when 'approved' then svc_now() + interval '1 minute' end
         where request_id = $1 returning state`,
        [id, state, newGrantId()],
      ).then(([row]) => row ?? null);
    await runSql(stores.url, 'alter table approval_requests disable trigger refuse_second_decision');
    try {
      const { won } = await endAtOnce(60_000, (id, decision) => [unguarded(id, decision)]);
      expect(won.length).toBeGreaterThan(1);
    } finally {
      await runSql(stores.url, 'alter table approval_requests enable trigger refuse_second_decision');
    }
  });

  it('refuses in the database every change to its decision or to what it asks for', async () => {
    const { requestId } = await insert();
    await stores.first.approvals.decide(requestId, DENIED);
    const other = await insert();
    for (const [id, change] of [
      [requestId, `state = 'pending', decided_at = null`],
      [requestId, `state = 'approved', approved_grant_id = 'x', approved_until = now()`],
      [requestId, `reason = 'another'`],
      [other.requestId, `action = '{}'`],
      [other.requestId, `expires_at = expires_at + interval '1 s'`],
      [other.requestId, `proof = 'd.e.f'`],
      [other.requestId, `relying_party = 'did:web:other.example'`],
    ])
      await expect(
        runSql(stores.url, `update approval_requests set ${change} where request_id = '${id}'`),
        change,
      ).rejects.toThrow(/is decided, or what it asks for would change/);
    await expect(
      runSql(
        stores.url,
        `insert into approval_requests select (jsonb_populate_record(r, jsonb_build_object('request_id', 'arq_' || repeat('0', 26),
           'state', 'approved', 'decided_at', r.expires_at, 'approved_grant_id', 'x', 'approved_until', r.expires_at))).*
         from approval_requests r where request_id = '${other.requestId}'`,
      ),
    ).rejects.toThrow(/check constraint/);
  });

  it('cannot be approved by a Grant that approved another request', async () => {
    const grantId = newGrantId();
    const [one, other] = [await insert(), await insert()];
    expect(await stores.first.approvals.decide(one.requestId, approved(grantId))).not.toBeNull();
    await expect(stores.second.approvals.decide(other.requestId, approved(grantId))).rejects.toMatchObject({
      kind: 'conflict',
    });
    expect(await stateOf(other.requestId)).toBe('pending');
  });

  it('waits for a concurrent request by the same relying party or to the same Principal, on any node', async () => {
    const { relyingParty, principal } = newAsk();
    const other = 'did:web:other.example' as DidWeb;
    for (const next of [
      { relyingParty, principal: other },
      { relyingParty: other, principal },
    ]) {
      const order: string[] = [];
      let second: Promise<unknown> = Promise.resolve();
      await stores.first.transaction(async (tx) => {
        await tx.approvals.lock({ relyingParty, principal });
        second = stores.second.transaction(async (later) => {
          await later.approvals.lock(next);
          order.push('second');
        });
        await withSession(stores.url, (session) => untilWaiting(session));
        order.push('first');
      });
      await second;
      expect(order).toEqual(['first', 'second']);
    }
  });

  it('is open only once per Grant and Agent, also if two nodes insert it without the lock', async () => {
    const ask = newAsk();
    const again = { ...newAsk(), grantId: ask.grantId, agent: ask.agent };
    const made = await Promise.allSettled([
      stores.first.approvals.insert(ask),
      stores.second.approvals.insert(again),
    ]);
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('the expiry of a request for approval', () => {
  it('shows in every query, and is recorded', async () => {
    const { approvals } = stores.first;
    const principal = world.principal.did;
    const byId = await insertDueIn(-1);
    expect(await approvals.listDecided([byId])).toEqual([byId]);
    expect(await approvals.find(byId)).toMatchObject({ state: 'expired', decidedAtMs: expect.any(Number) });
    const listed = await insertDueIn(-1);
    expect(await approvals.list({ principal, heldSinceMs: 0, state: 'pending', limit: 10 })).toEqual([]);
    expect((await approvals.list({ principal, heldSinceMs: 0, state: 'expired', limit: 10 })).length).toBe(2);
    expect(await stateOf(listed)).toBe('expired');
    const swept = await insertDueIn(-1);
    expect(await approvals.expire(10)).toBe(1);
    expect(
      (await approvals.list({ principal, heldSinceMs: 0, limit: 10 })).map(({ requestId }) => requestId),
    ).toContain(swept);
    expect(await approvals.decide(swept, approved())).toBeNull();
  });

  it('excludes a later approval, denial or cancellation, also if nobody has read the request since', async () => {
    for (const decision of [approved(), DENIED, CANCELLED]) {
      const id = await insertDueIn(-1);
      expect(await stores.first.approvals.decide(id, decision)).toBeNull();
      expect(await stateOf(id)).toBe('expired');
    }
  });

  it('comes with the transfer of the requested Principal, and not with that of another', async () => {
    const asked = await insert();
    world = await createWorld(stores.first);
    const other = await insert();
    await insertTransferred(stores.first, 'principal.verify', asked.principal, orgId);
    expect([await stateOf(asked.requestId), await stateOf(other.requestId)]).toEqual(['expired', 'pending']);
  });

  it('is recorded by the job, which also forgets expired Grants and removes requests after 30 days', async () => {
    const due = await insertDueIn(-1);
    const { requestId } = await insert();
    await stores.first.approvals.decide(requestId, approved(newGrantId(), Date.now() - 1));
    const old = await insertDueIn(-1);
    await runSql(stores.url, `alter table approval_requests disable trigger refuse_second_decision`);
    await runSql(
      stores.url,
      `update approval_requests set requested_at = now() - interval '31 days', expires_at = now() - interval '31 days' + interval '1 h'
       where request_id = '${old}'`,
    );
    await runSql(stores.url, `alter table approval_requests enable trigger refuse_second_decision`);
    const tidied = await tidyApprovals({ store: stores.first }, new AbortController().signal);
    expect(tidied).toMatchObject({ expired: 2, removed: 1 });
    expect(await stateOf(due)).toBe('expired');
    expect(await stores.first.approvals.find(requestId)).toMatchObject({
      state: 'approved',
      approvedGrant: null,
      approvedGrantId: expect.any(String),
    });
    expect(await stateOf(old)).toBeUndefined();
  });
});

describe('approval events', () => {
  const want = async () => {
    const audiences: EventAudience[] = [`principal ${world.principal.did}`, `rp ${world.relyingParty.did}`];
    for (const audience of audiences)
      await insertSubscription(stores.first, audience, ['approval.requested', 'approval.decided']);
    return async () => {
      const told = await Promise.all(audiences.map((audience) => listTold(stores.url, audience)));
      return told.map((events) =>
        events.map(({ type, data }) => `${type} ${(JSON.parse(data) as { status: string }).status}`),
      );
    };
  };

  it('are emitted once: requests to the Principal, and every end except a cancellation to the relying party', async () => {
    const told = await want();
    for (const decision of [approved(), DENIED, CANCELLED]) {
      const { requestId } = await insert();
      await stores.first.approvals.decide(requestId, decision);
      await stores.first.approvals.decide(requestId, DENIED);
    }
    const due = await insertDueIn(-1);
    await Promise.all([stateOf(due), stores.second.approvals.expire(10), stateOf(due)]);
    expect(await told()).toEqual([
      Array.from({ length: 4 }, () => 'approval.requested pending'),
      ['approval.decided approved', 'approval.decided denied', 'approval.decided expired'],
    ]);
  });

  it('of a request are emitted only to a Principal with a proven domain', async () => {
    const told = await want();
    const prove = (state: 'unverified' | 'verified') =>
      stores.first.principals.recordVerification(world.principal.did, {
        state,
        proven: state === 'verified',
      });
    await prove('unverified');
    await insert();
    expect(await told()).toEqual([[], []]);
    await prove('verified');
    await insert();
    expect(await told()).toEqual([['approval.requested pending'], []]);
  });

  it('are not emitted by a transaction that is rolled back', async () => {
    const told = await want();
    const { requestId } = await insert();
    await expect(
      stores.first.transaction(async (tx) => {
        await tx.approvals.insert(newAsk());
        await tx.approvals.decide(requestId, approved());
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await told()).toEqual([['approval.requested pending'], []]);
    expect(await stateOf(requestId)).toBe('pending');
  });
});

it('requests to a DID or by a DID are deleted when the DID is released', async () => {
  const principal = world.principal.did;
  for (const release of [
    `delete from status_lists where principal = '${principal}'; delete from principal_keys where principal = '${principal}';
     delete from principals where did = '${principal}'`,
    `delete from relying_parties where did = '${world.relyingParty.did}'`,
  ]) {
    const { requestId } = await insert();
    const receiptId = `drc_${encodeUlid(Date.now(), randomBytes(10))}` as ReceiptId;
    expect(await stores.first.approvals.addReceipt(requestId, receiptId, 1)).toBe(true);
    await runSql(stores.url, release);
    expect(await stateOf(requestId)).toBeUndefined();
    expect(await stores.first.approvals.findOfReceipt(receiptId)).toBeNull();
    const left = `select from approval_receipts where request_id = '${requestId}'`;
    expect(await runSql(stores.url, left)).toEqual([]);
  }
});

it('countPending counts over all Principals, and counts neither decided requests nor expired ones', async () => {
  const before = await stores.first.approvals.countPending();
  const { requestId } = await insert();
  await insert();
  await insertDueIn(-1);
  expect(await stores.first.approvals.countPending()).toBe(before + 2);
  await stores.first.approvals.decide(requestId, DENIED);
  expect(await stores.first.approvals.countPending()).toBe(before + 1);
});
