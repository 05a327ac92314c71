import type { Caller, ServiceDeps } from '@svc/service';
import { expect, it } from 'vitest';
import { decisionEndpoints } from '../decisions.ts';
import { ACTIVITY, EXPORTS, StreamTurns, Turns } from '../stream-turns.ts';
import type { presentActivity } from './activity.ts';

const did = 'did:web:acme.example';
const caller = { class: 'principal', subject: did, orgId: null, isNewcomer: false } as unknown as Caller;
const settled = () => new Promise(setImmediate);

/** Each Grant has two rows; the rows are read when `answer` is called. */
const setUp = (grantCount = 1) => {
  const reading: (() => void)[] = [];
  const asked = { lists: 0, grants: [] as (readonly string[])[] };
  const row = (_: unknown, i: number) => ({
    receiptId: `drc_${i}`,
    decision: 'ALLOW',
    reason: null,
    evaluatedAtMs: i,
    grantId: `grant ${i >> 1}`,
    agent: 'did:key:z1',
    relyingParty: 'did:web:shop.example',
    amount: null,
    currency: null,
  });
  const listActs = async () => {
    asked.lists += 1;
    await new Promise<void>((resolve) => reading.push(resolve));
    return { items: Array.from({ length: 2 * grantCount }, row), unreadBefore: null };
  };
  const listAgents = async (_: string, ids: readonly string[]) => {
    asked.grants.push(ids);
    return ids.slice(1).map((id) => ({ id, agent: `Agent of ${id}` }));
  };
  const deps = {
    clock: { nowMs: () => 1_000 },
    store: {
      principals: { find: async () => ({ did, kind: 'managed' }), findHeldSince: async () => 0 },
      grants: { listAgents },
      report: (work: (from: object) => unknown) => work({ decisions: { listActs } }),
    },
  } as unknown as ServiceDeps;
  const kept = { exportTurns: new StreamTurns(EXPORTS), activityTurns: new Turns(ACTIVITY) };
  const { getPrincipalActivity } = decisionEndpoints(deps, kept);
  const call = { caller, params: { did }, query: { by: 'grant' } };
  const ask = () => getPrincipalActivity(call as unknown as Parameters<typeof getPrincipalActivity>[0]);
  const answer = async () => {
    for (const read of reading.splice(0)) read();
    await settled();
  };
  return { ask, answer, asked };
};

it('Activity of one subject is read for two calls at once; six more wait their turn, and a ninth is refused', async () => {
  const { ask, answer, asked } = setUp();
  const asking = Array.from({ length: 8 }, ask);
  await settled();
  expect(asked.lists).toBe(2);
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  for (const lists of [2, 4, 6, 8]) {
    expect(asked.lists).toBe(lists);
    await answer();
  }
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(Array(8).fill(200));
});

it('Activity looks up the Agents of all returned Grants in one query', async () => {
  const { ask, answer, asked } = setUp(250);
  const asking = ask();
  await settled();
  await answer();
  const { body } = (await asking) as unknown as { readonly body: ReturnType<typeof presentActivity> };
  expect(body).toMatchObject({ counted: 500, complete: true, groups_total: 250 });
  const [first, second] = body.groups;
  expect([first?.agent, second?.agent]).toEqual([null, `Agent of ${second?.subject}`]);
  expect(asked.grants.map((ids) => ids.length)).toEqual([200]);
});
