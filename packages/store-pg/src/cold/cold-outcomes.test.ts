/**
 * Outcomes of cold Receipts: all reads of objects precede the transaction, which holds locks that decisions wait for.
 */
import { randomBytes } from 'node:crypto';
import { packDays } from '@svc/cold-ledger';
import { type ApiKeyId, encodeUlid, type ReceiptId } from '@svc/protocol';
import { type NewOutcome, type ObjectStore, type RpCaller, reportOutcome, type Store } from '@svc/service';
import {
  bringBack,
  coldPlaceOf,
  createColdWorld,
  DUE,
  packingOf,
  type Receipt,
  serviceOf,
} from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { newOutcome } from '@svc/testkit/store/world';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { createStore } from '../create-store.ts';

const stores = withStores();
const openFolder = withObjectFolders();
let objects: ObjectStore;
let world: readonly Receipt[];
beforeAll(async () => {
  world = await createColdWorld(stores.url, stores.first);
  objects = await openFolder();
});

const makeCold = async (): Promise<void> => {
  await bringBack(stores.url);
  await packDays(packingOf(stores.url, stores.first, objects), new AbortController().signal);
};
beforeEach(makeCold);

const open = (place: ObjectStore): Store =>
  createStore({
    databaseUrl: stores.url,
    cold: coldPlaceOf(place),
    deadlines: { connectMs: 20_000, waitMs: 20_000, readMs: 20_000, ledgerReadMs: 20_000 },
  });

/** An ALLOW, or a denial for `wanted`. */
const receiptOf = (wanted: string | null = null): Receipt => {
  const startMs = Date.parse(DUE[0] ?? '');
  const found = world.find(
    ({ at, reason, principal }) =>
      at >= startMs && reason === wanted && (reason !== null || principal !== null),
  );
  if (found === undefined) throw new Error(`no ${wanted ?? 'ALLOW'}`);
  return found;
};

const rowOf = async (attestationId: string) =>
  runSql(
    stores.url,
    `select relying_party as rp, principal, decision, svc_ms(evaluated_at)::float8 as at, issuer_unverified as "isUnverified"
     from attestations where attestation_id = $1`,
    [attestationId],
  );
const asOf = ({ rp, principal, reason, at }: Receipt) => {
  const isUnverified = reason === 'ISSUER_UNVERIFIED';
  return [{ rp, principal, decision: reason === null ? 'ALLOW' : 'DENY', at, isUnverified }];
};

it('reportOutcome reads no object while its transaction is open', async () => {
  let isOpen = false;
  let reads = 0;
  const store = open({
    ...objects,
    async getRange(...args) {
      if (isOpen) throw new Error('an object is read while the transaction is open');
      reads += 1;
      return objects.getRange(...args);
    },
  });
  const transaction: Store['transaction'] = (work, options) =>
    store.transaction(async (tx) => {
      isOpen = true;
      return work(tx).finally(() => {
        isOpen = false;
      });
    }, options);
  try {
    const receipt = receiptOf();
    const keyHash = randomBytes(32).toString('hex');
    const keyId = keyHash.slice(0, 12) as ApiKeyId;
    const subject = receipt.rp as RpCaller['subject'];
    const key = await store.apiKeys.insert({ keyHash, keyId, role: 'rp', subject, label: null });
    const caller = { class: 'rp', subject, keyId, key } as unknown as RpCaller;
    const deps = {
      ...serviceOf(Object.create(store, { transaction: { value: transaction } }) as Store),
      random: { bytes: (length: number) => randomBytes(length) },
    };
    const { attestationId } = await reportOutcome(deps, {
      ...{ caller, receiptId: receipt.id, subject: undefined, requestId: 'request' },
      report: { type: 'fulfilled', occurred_at: '2026-01-01T00:00:00Z' },
    });
    expect(reads).toBeGreaterThan(0);
    expect(await rowOf(attestationId)).toEqual(asOf(receipt));
  } finally {
    await store.close();
  }
});

it('an outcome is stored the same if its day is detached or brought back between the look-up and the transaction', async () => {
  const store = open(objects);
  const report = (receiptId: string, ordinal: number): NewOutcome => ({
    ...newOutcome(receiptId as ReceiptId, ordinal),
    attestationId: `oat_${encodeUlid(Date.now(), randomBytes(10))}`,
  });
  try {
    for (const [ordinal, [receipt, before, after]] of [
      [receiptOf(), bringBack, makeCold] as const,
      [receiptOf(), makeCold, bringBack] as const,
      [receiptOf('ISSUER_UNVERIFIED'), bringBack, makeCold] as const,
      [receiptOf('ISSUER_UNVERIFIED'), makeCold, bringBack] as const,
    ].entries()) {
      await before(stores.url);
      const found = await store.receipts.findReported(receipt.id);
      await after(stores.url);
      const outcome = report(receipt.id, 50 + ordinal);
      const stored = await store.transaction((tx) => tx.outcomes.insert(outcome, found));
      expect(stored).toMatchObject({ reporter: receipt.rp, ordinal: 50 + ordinal });
      expect(await rowOf(outcome.attestationId)).toEqual(asOf(receipt));
    }
  } finally {
    await store.close();
  }
});

it('an outcome of a Receipt that is missing from a hot day is not stored, although another Receipt was looked up', async () => {
  const found = await stores.first.receipts.findReported(world.at(-1)?.id as ReceiptId);
  expect(found).not.toBeNull();
  const absent = `drc_${encodeUlid(Date.now() - 1_000, randomBytes(10))}` as ReceiptId;
  expect(await stores.first.outcomes.insert(newOutcome(absent, 60), found)).toBeNull();
});

it('an outcome of a denial without issuer_unverified (former version) is stored on hot days and refused on cold ones', async () => {
  const insertOf = ({ id, rp, principal, at, reason }: Receipt, ordinal: number) => {
    const attestationId = `oat_${encodeUlid(Date.now(), randomBytes(10))}`;
    return runSql(
      stores.url,
      `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at)
       values ($1, $2, $3, $4, $5, svc_instant($6), $7, 'cancelled', '')`,
      [attestationId, id, ordinal, rp, principal, at, reason === null ? 'ALLOW' : 'DENY'],
    ).then(() => rowOf(attestationId));
  };
  const [allow, denial] = [receiptOf(), receiptOf('ISSUER_UNVERIFIED')];
  expect(await insertOf(allow, 70)).toEqual(asOf(allow));
  await expect(insertOf(denial, 70)).rejects.toThrow('repeated');
  await bringBack(stores.url);
  expect(await insertOf(denial, 70)).toEqual(asOf(denial));
});
