/** Batches, lines and refusals of decisions on budgets. The decisions here are DENYs of invalid Grants. */
import { emptyBalances, type GrantId, parsePresented } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import type { BudgetFacts, BudgetQuery } from '../ports/consumption.ts';
import type { DecisionCommit } from '../ports/verify-store.ts';
import { Budgets } from './budgets.ts';
import type { StoredOutcome } from './commit.ts';
import type { Grounds } from './evaluate.ts';

const grantId = (n: number) => `urn:svc:grant:${String(n).repeat(26)}` as GrantId;
const request = { grant: 'x', proof: 'x', action: {} };

const groundsWith = (
  leftMs: number,
  relyingPartyDid = 'did:web:shop.example',
  org = 'did:web:shop.example',
): Grounds => {
  const call = {
    request,
    presented: parsePresented(request),
    idempotency: null,
    tenant: { crowd: 'tenants', org, subject: org },
    crypto: nativeCrypto,
    answerByMs: performance.now() + leftMs,
  };
  const relyingParty = {
    did: relyingPartyDid,
    profile: 'svc-base-v2',
    proofWindowSeconds: 60,
    version: 1,
  };
  const caller = { subject: relyingParty.did, relyingParty, key: { keyHash: '', keyId: '' } };
  const entitled = { caller, productionCheck: null, uncovered: null };
  return { call, entitled, loaded: { facts: {}, usedPrincipal: null } } as unknown as Grounds;
};

type Decide = (facts: readonly (BudgetFacts | null)[]) => Promise<readonly DecisionCommit[]>;

/**
 * Budgets with a committer whose outcomes `outcomesOf` gives, and a list of its calls: numbers of Grants and commits.
 */
const budgetsWith = (
  outcomesOf: (commits: number, call: number) => readonly StoredOutcome[],
  isHeld: (id: GrantId) => boolean = () => false,
  signer: object = { sign: () => new Uint8Array(64) },
) => {
  const calls: { grants: number; commits: number }[] = [];
  const deps = {
    clock: { nowMs: Date.now },
    random: { bytes: (length: number) => new Uint8Array(length) },
    identity: {
      receiptKeys: { signer: { kid: 'did:web:svc.example#receipt-1', ...signer } },
    },
  } as unknown as ServiceDeps;
  const commitOnBudgets = async (queries: readonly BudgetQuery[], _waitMs: number, decide: Decide) => {
    const facts = queries.map(({ grantId: id }) =>
      isHeld(id) ? null : { balances: emptyBalances(id), isSpent: false },
    );
    const commits = await decide(facts);
    calls.push({ grants: new Set(queries.map((query) => query.grantId)).size, commits: commits.length });
    return outcomesOf(commits.length, calls.length);
  };
  return { budgets: new Budgets(deps, { commitOnBudgets }), calls };
};

const LONG_MS = 60_000;
const stored = (commits: number): StoredOutcome[] => Array(commits).fill('STORED');
const outcomesOf = async (results: readonly Promise<{ outcome: StoredOutcome }>[]) =>
  (await Promise.all(results)).map(({ outcome }) => outcome);

describe('decisions on budgets', () => {
  it('that arrive while others are being stored are committed together, whatever their Grants', async () => {
    const { budgets, calls } = budgetsWith(stored);
    const results = [0, 1, 2, 1].map((n) => budgets.decide(groundsWith(LONG_MS), grantId(n)));
    expect(await outcomesOf(results)).toEqual(Array(4).fill('STORED'));
    expect(calls).toEqual([
      { grants: 1, commits: 1 },
      { grants: 2, commits: 3 },
    ]);
  });

  it('that were overtaken in a batch are decided again, and only those', async () => {
    const { budgets, calls } = budgetsWith((commits, call) =>
      call === 2 ? ['KEY_REVOKED', 'OVERTAKEN', 'STORED'] : stored(commits),
    );
    const results = [0, 1, 1, 2].map((n) => budgets.decide(groundsWith(LONG_MS), grantId(n)));
    expect(await outcomesOf(results)).toEqual(['STORED', 'KEY_REVOKED', 'STORED', 'STORED']);
    expect(calls.map(({ commits }) => commits)).toEqual([1, 3, 1]);
  });

  it('that are overtaken three times are returned as OVERTAKEN', async () => {
    const { budgets, calls } = budgetsWith((commits) => Array(commits).fill('OVERTAKEN'));
    expect(await outcomesOf([budgets.decide(groundsWith(LONG_MS), grantId(1))])).toEqual(['OVERTAKEN']);
    expect(calls).toHaveLength(3);
  });

  it('of a batch are stored although the database refuses one of them', async () => {
    let poisoned = 0;
    const { budgets } = budgetsWith((commits, call) => {
      if (call === 1) return stored(commits);
      // The refused decision is the last, so it is in every second half.
      const holdsIt = commits > 1 || ++poisoned === 4;
      return holdsIt ? Array(commits).fill('REFUSED') : stored(commits);
    });
    const results = Array.from({ length: 5 }, () => budgets.decide(groundsWith(LONG_MS), grantId(1)));
    expect(await outcomesOf(results)).toEqual(['STORED', 'STORED', 'STORED', 'STORED', 'REFUSED']);
  });

  it('on a Grant for which the signer failed are refused, and those on other Grants are stored', async () => {
    let asked = 0;
    const sign = async () => {
      asked += 1;
      if (asked === 2) throw serviceUnavailable('the signer is away');
      return new Uint8Array(64);
    };
    const { budgets } = budgetsWith(stored, () => false, { sign });
    const [first, failed, behind, other] = [0, 1, 1, 2].map((n) =>
      budgets.decide(groundsWith(LONG_MS), grantId(n)),
    );
    for (const result of [failed, behind])
      await expect(result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await outcomesOf([first, other].flatMap((result) => result ?? []))).toEqual(['STORED', 'STORED']);
  });

  it('with a Receipt longer than the signer accepts are refused with INVALID_REQUEST, and all others are stored', async () => {
    const sign = () => new Uint8Array(64);
    const { budgets } = budgetsWith(stored, () => false, { sign, maxBytes: 1_700 });
    const longDid = `did:web:shop.example:${'x'.repeat(400)}`;
    const decide = (n: number, did?: string) => budgets.decide(groundsWith(LONG_MS, did), grantId(n));
    const results = [decide(0), decide(1, longDid), decide(1), decide(2)];
    await expect(results[1]).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(
        /would take 2\d{3} bytes to sign, and this deployment signs 1700 at most/,
      ),
    });
    expect(await outcomesOf(results.filter((_, i) => i !== 1))).toEqual(['STORED', 'STORED', 'STORED']);
  });

  it.each([-1, 0, 300])(
    'are refused with SERVICE_UNAVAILABLE and not committed if the answer is due within %i ms',
    async (leftMs) => {
      const { budgets, calls } = budgetsWith(stored);
      const results = Array.from({ length: 3 }, () => budgets.decide(groundsWith(leftMs), grantId(1)));
      for (const result of results)
        await expect(result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(calls.reduce((sum, { commits }) => sum + commits, 0)).toBe(0);
    },
  );

  it('on a Grant whose lock is held wait apart, and those on other Grants are stored meanwhile', async () => {
    let isHeld = true;
    let seenOthers = 0;
    const { budgets, calls } = budgetsWith(
      (commits) => {
        seenOthers += commits;
        if (seenOthers === 3) isHeld = false;
        return stored(commits);
      },
      (id) => isHeld && id === grantId(1),
    );
    const results = [0, 1, 2, 1, 3].map((n) => budgets.decide(groundsWith(LONG_MS), grantId(n)));
    expect(await outcomesOf(results)).toEqual(Array(5).fill('STORED'));
    // They are committed together with the others once, and after that only with each other.
    expect(calls[1]).toEqual({ grants: 3, commits: 2 });
    for (const { grants } of calls.slice(2)) expect(grants).toBe(1);
  });

  it('are refused if the lock of their Grant is held for longer than they can wait', async () => {
    const { budgets } = budgetsWith(stored, () => true);
    const result = budgets.decide(groundsWith(520), grantId(1));
    await expect(result).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('on a Grant with many waiting decisions are stored apart from those on other Grants', async () => {
    const { budgets, calls } = budgetsWith(stored);
    const results = [...Array(40).fill(1), 2].map((n) => budgets.decide(groundsWith(LONG_MS), grantId(n)));
    expect(await outcomesOf(results)).toEqual(Array(41).fill('STORED'));
    expect(calls.every(({ grants, commits }) => grants === 1 || commits <= 8)).toBe(true);
    // Far fewer calls than decisions: the line collects those that arrive while it is busy.
    expect(calls.length).toBeLessThan(8);
  });

  it('of one tenant get the turn of that tenant, even if another tenant drew on the same Grant first', async () => {
    const order: GrantId[] = [];
    const { budgets, calls } = budgetsWith(stored, (id) => {
      order.push(id);
      return false;
    });
    const draw = (n: number, org: string) =>
      budgets.decide(groundsWith(LONG_MS, 'did:web:shop.example', org), grantId(n));
    const crowd = (n: number, org: string) => Array.from({ length: 9 }, () => draw(n, org));
    // One tenant draws on seven Grants, and is the first to draw on an eighth, which another tenant waits for.
    const flood = [1, 2, 3, 4, 5, 6, 7].flatMap((n) => crowd(n, 'flood'));
    const shared = [...crowd(8, 'flood'), draw(8, 'victim')];
    expect(await outcomesOf([...flood, ...shared])).toEqual(Array(73).fill('STORED'));
    expect(calls.every(({ grants }) => grants >= 1)).toBe(true);
    const lines = order.filter((id, i) => order.indexOf(id, i + 1) === -1).map((id) => id.slice(-1));
    expect(lines.indexOf('8')).toBeLessThan(4);
  });

  it('of a batch are stored although others in it are too late', async () => {
    const { budgets } = budgetsWith(stored);
    const results = [LONG_MS, 0, LONG_MS].map((leftMs) => budgets.decide(groundsWith(leftMs), grantId(1)));
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
