import type { NewOutcome, ReceiptRecord } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, untilRow, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  newOutcome,
  type World,
} from '@svc/testkit/store/world';
import { beforeAll, describe, expect, it } from 'vitest';

const stores = withStores();
let world: World;
beforeAll(async () => {
  world = await createWorld(stores.first);
});

const insert = (outcome: NewOutcome) => stores.first.outcomes.insert(outcome, null);
const decide = async (decision = denyCommit(world)): Promise<ReceiptRecord['receiptId']> => {
  expect(await stores.first.verify.commitDecisions([decision])).toEqual(['STORED']);
  return decision.receiptId;
};
const refused = expect.objectContaining({ kind: 'refused' });
const conflict = expect.objectContaining({ kind: 'conflict' });

describe('an outcome', () => {
  it('is returned and listed as it was given, with the relying party of the Receipt as reporter', async () => {
    const receiptId = await decide();
    const given = newOutcome(receiptId, 1, {
      type: 'loss_reported',
      evidenceRef: 'e',
      note: 'n',
      reporterSignature: 's',
      lossAmount: Number.MAX_SAFE_INTEGER,
      currency: 'USD',
      consumption: { cause: 'restore', version: 3 },
    });
    const stored = await insert(given);
    expect(stored).toEqual({
      ...given,
      reporter: world.relyingParty.did,
      recordedAtMs: expect.any(Number),
    });
    expect(await stores.second.outcomes.listOfReceipts([receiptId])).toEqual([stored]);
  });

  it('carries the relying party, Principal, decision and time of its Receipt', async () => {
    const allow = allowCommit(world, await insertGrant(world));
    const deny = denyCommit(world);
    for (const decision of [allow, deny]) await insert(newOutcome(await decide(decision), 1));
    const rows = await runSql(
      stores.url,
      `select relying_party, principal, decision, svc_ms(evaluated_at)::float8 as ms from attestations
       where receipt_id = any ($1) order by decision`,
      [[allow.receiptId, deny.receiptId]],
    );
    const { did } = world.relyingParty;
    expect(rows).toEqual([
      { relying_party: did, principal: world.principal.did, decision: 'ALLOW', ms: allow.evaluatedAtMs },
      { relying_party: did, principal: null, decision: 'DENY', ms: deny.evaluatedAtMs },
    ]);
  });

  it('of a missing Receipt is not stored', async () => {
    expect(await insert(newOutcome(denyCommit(world).receiptId, 1))).toBeNull();
  });

  it('is listed by Receipt, oldest first', async () => {
    const receiptIds = [await decide(), await decide(), await decide()];
    for (const ordinal of [1, 2, 3])
      for (const receiptId of receiptIds) await insert(newOutcome(receiptId, ordinal));
    const listed = await stores.first.outcomes.listOfReceipts(receiptIds.slice(0, 2));
    expect(listed.map(({ receiptId, ordinal }) => [receiptId, ordinal])).toEqual(
      receiptIds
        .slice(0, 2)
        .toSorted()
        .flatMap((receiptId) => [1, 2, 3].map((ordinal) => [receiptId, ordinal])),
    );
  });
});

it('an outcome of any type may have a resolution, an amount and a currency', async () => {
  const given = { resolution: 'indeterminate', lossAmount: 1, currency: 'USD' } as const;
  expect(await insert(newOutcome(await decide(), 1, given))).toMatchObject(given);
});

describe('the database refuses', () => {
  it.each<[string, Partial<NewOutcome>, unknown]>([
    ['a second outcome with the same ordinal', { ordinal: 1 }, conflict],
    ['an ordinal above 100', { ordinal: 101 }, refused],
    ['a resolved dispute without a resolution', { type: 'dispute_resolved' }, refused],
    ['a loss without an amount', { type: 'loss_reported' }, refused],
    ['an amount without a currency', { type: 'loss_reported', lossAmount: 1 }, refused],
    ['a negative amount', { type: 'loss_reported', lossAmount: -1, currency: 'USD' }, refused],
  ])('%s', async (_, change, error) => {
    const receiptId = await decide();
    await insert(newOutcome(receiptId, 1));
    await expect(insert(newOutcome(receiptId, 2, change))).rejects.toEqual(error);
  });

  it("a correction of another decision's outcome, or of an outcome that is corrected already", async () => {
    const [receiptId, otherId] = [await decide(), await decide()];
    const [first, other] = [newOutcome(receiptId, 1), newOutcome(otherId, 1)];
    for (const outcome of [first, other]) await insert(outcome);
    const correct = (ordinal: number, correctionOf: string) =>
      insert(newOutcome(receiptId, ordinal, { correctionOf }));
    await expect(correct(2, other.attestationId)).rejects.toEqual(refused);
    await correct(2, first.attestationId);
    await expect(correct(3, first.attestationId)).rejects.toEqual(conflict);
  });
});

it('a reporter waits for an earlier transaction on the Receipt, and then sees its outcome', async () => {
  const receiptId = await decide();
  const [first, second] = [newOutcome(receiptId, 1), newOutcome(receiptId, 2)];
  await withSession(stores.url, async (session) => {
    let waiting: Promise<number> | undefined;
    await stores.first.transaction(async (tx) => {
      await tx.outcomes.listForUpdate(receiptId);
      waiting = stores.second.transaction(async (later) => {
        const ledger = await later.outcomes.listForUpdate(receiptId);
        await later.outcomes.insert(second, null);
        return ledger.length;
      });
      await untilRow(
        session,
        `select from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      await tx.outcomes.insert(first, null);
    });
    expect(await waiting).toBe(1);
  });
});
