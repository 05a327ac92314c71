/** When a lane takes its turn, and whom it decides nothing for. The decisions are DENYs of what is no Grant. */
import { emptyBalances, type GrantId, parsePresented } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { describe, expect, it } from 'vitest';
import type { Attempted } from './attempt.ts';
import { BudgetLane, type LaneContender, type LaneDeps } from './budget-lane.ts';
import type { StoredOutcome } from './committer.ts';

const GRANT_ID = `urn:svc:grant:${'0'.repeat(26)}` as GrantId;
const BALANCES = emptyBalances(GRANT_ID);
const request = { grant: 'x', proof: 'x', action: {} };

const contenderWith = (leftMs: number): LaneContender => {
  const attempt = {
    request,
    presented: parsePresented(request),
    facts: {},
    usedPrincipal: null,
    productionCheck: null,
    idempotency: null,
    crypto: nativeCrypto,
    answerByMs: performance.now() + leftMs,
    caller: {
      subject: 'did:web:shop.example',
      relyingParty: {
        did: 'did:web:shop.example',
        profile: 'svc-base-v2',
        proofWindowSeconds: 60,
        version: 1,
      },
      key: { keyHash: '', keyId: '' },
    },
  };
  return {
    attempt: attempt as unknown as LaneContender['attempt'],
    jti: null,
    isSpent: false,
    balances: BALANCES,
  };
};

/** A lane whose commits come to these outcomes one after the other, and what it did. */
const laneWith = (...outcomes: readonly StoredOutcome[]) => {
  const left = [...outcomes];
  const steps: string[] = [];
  const deps = {
    clock: { nowMs: Date.now },
    random: { bytes: (length: number) => new Uint8Array(length) },
    identity: {
      receiptKeys: { signer: { kid: 'did:web:svc.example#receipt-1', sign: () => new Uint8Array(64) } },
    },
    findBalances: async () => {
      steps.push('read');
      return BALANCES;
    },
    committer: {
      submit: async (commits: readonly unknown[]) => {
        steps.push('commit');
        const outcome = left.shift();
        return commits.map(() => outcome);
      },
      submitInTurn: async (
        _: GrantId,
        jtis: readonly unknown[],
        decide: (facts: readonly object[]) => Promise<readonly unknown[]>,
      ) => {
        steps.push('turn');
        const commits = await decide(jtis.map(() => ({ balances: BALANCES, isSpent: false })));
        const outcome = left.shift();
        return commits.map(() => outcome);
      },
    },
  };
  return { lane: new BudgetLane(GRANT_ID, deps as unknown as LaneDeps), steps };
};

const LONG_MS = 60_000;
const outcomesOf = async (results: readonly Promise<Attempted>[]) =>
  (await Promise.all(results)).map(({ outcome }) => outcome);

describe('a lane', () => {
  it('that is overtaken reads the balances again, beside everybody else', async () => {
    const { lane, steps } = laneWith('OVERTAKEN', 'STORED', 'STORED');
    const results = [lane.submit(contenderWith(LONG_MS)), lane.submit(contenderWith(LONG_MS))];
    expect(await outcomesOf(results)).toEqual(['STORED', 'STORED']);
    expect(steps).toEqual(['commit', 'read', 'commit', 'commit']);
  });

  it('that is overtaken again takes its turn, and so does who comes behind', async () => {
    const { lane, steps } = laneWith('OVERTAKEN', 'OVERTAKEN', 'STORED', 'STORED');
    const results = [lane.submit(contenderWith(LONG_MS)), lane.submit(contenderWith(LONG_MS))];
    expect(await outcomesOf(results)).toEqual(['STORED', 'STORED']);
    expect(steps).toEqual(['commit', 'read', 'commit', 'turn', 'turn']);
  });

  it.each([-1, 0, 300])('decides nothing that is to be answered within %i ms', async (leftMs) => {
    const { lane, steps } = laneWith();
    const results = Array.from({ length: 3 }, () => lane.submit(contenderWith(leftMs)));
    for (const result of results) await expect(result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(steps).toEqual([]);
    expect(lane.isEmpty).toBe(true);
  });

  it('decides for the others what some come too late for', async () => {
    const { lane } = laneWith('STORED', 'STORED');
    const results = [LONG_MS, 0, LONG_MS].map((leftMs) => lane.submit(contenderWith(leftMs)));
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
