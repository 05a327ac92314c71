/**
 * Checks every packed day:
 *
 * - its manifest is signed by the service and belongs to that day's checkpoint;
 * - each byte that the manifest names is in the store, unaltered;
 * - if the day is read from the store, its Receipts satisfy the rules for those in the database.
 *
 * Surplus objects are a note if an interrupted packer can have left them.
 */
import { createHash } from 'node:crypto';
import {
  type ColdDay,
  ColdDayReader,
  findDayProblem,
  namesBelow,
  type ReceiptRow,
  TABLES,
} from '@svc/cold-ledger';
import { type ReceiptId, sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { messageOf, type ObjectStore } from '@svc/service';
import type { Check, CheckContext } from '../check.ts';
import { BegunCaps } from './caps.ts';
import { ColdFacts, comparePacked } from './cold-facts.ts';
import { type ColdKept, ColdKeptDays, checkVerificationsOfHotDays } from './cold-kept.ts';
import { checkManifests, type RecordedDay } from './cold-manifests.ts';
import { namePins } from './cold-pins.ts';
import type { PinSums } from './pin-sums.ts';
import { pinOfReceipt } from './pins.ts';
import { manifestReaderOf } from './read-manifest.ts';
import { checkReceipts, type ListedReceipt } from './receipts.ts';

interface Row extends RecordedDay {
  readonly isCold: boolean;
  readonly isCleared: boolean;
  readonly manifest: string;
}

/** Manifests are loaded one by one, because each has some hundred thousand characters. */
const PACKED = `
  select day::text as day, state = 'cold' as "isCold" from cold_days where manifest is not null order by cold_days.day`;
const ROW = `
  select d.day::text as day, d.state = 'cold' as "isCold", d.cleared_at is not null as "isCleared", d.manifest, d.manifest_hash as "manifestHash", p.hash, p.root,
    p.content_root as "contentRoot", (d.day + 1)::timestamp at time zone 'UTC' <= svc_actions_kept_since() as "isOld"
  from cold_days as d join checkpoints as p using (day) where d.manifest is not null and day = $1`;

/** `pins`: what Receipts of cold days must pin, according to the replayed logs. */
export const coldDayCheck = (objects: ObjectStore, pins: PinSums): Check => ({
  name: 'cold-days',
  promise:
    'every packed day is in the store under a manifest signed by the service, which no other one would be taken for, leads to what was published, its Receipts are signed, unaltered and listed as what they say and pin what the logs of their budgets come to, and what the database holds of it agrees',
  countSql: 'select count(*) from cold_days where manifest is not null',
  async run(context) {
    const packed = await context.query<Pick<Row, 'day' | 'isCold'>>(PACKED);
    const keptDays = new ColdKeptDays(
      context,
      packed.filter(({ isCold }) => isCold).map(({ day }) => day),
    );
    for (const { day } of packed) {
      const [row] = await context.query<Row>(ROW, [day]);
      const manifest = row === undefined ? null : readManifest(context, row);
      if (row !== undefined && manifest !== null)
        await checkDay(context, objects, pins, keptDays, row, manifest);
      context.advance(1);
    }
    await checkVerificationsOfHotDays(context);
  },
});

const readManifest = (context: CheckContext, { day, manifest, manifestHash }: Row): ColdDay | null => {
  if (sha256Of(nativeCrypto, manifest) !== manifestHash)
    context.report(day, 'its manifest does not have the hash that was stored with it');
  try {
    return manifestReaderOf(context)(manifest);
  } catch (error) {
    context.report(day, `its manifest: ${messageOf(error)}`);
    return null;
  }
};

const checkDay = async (
  context: CheckContext,
  objects: ObjectStore,
  pins: PinSums,
  keptDays: ColdKeptDays,
  row: Row,
  manifest: ColdDay,
): Promise<void> => {
  await checkManifests(context, objects, row, manifest);
  let withAction: string | null = null;
  const problem = await findDayProblem(objects, manifest, row, undefined, (receipt) => {
    if (ACTION_FIELDS.some((name) => receipt[name] !== null)) withAction ??= receipt.receipt_id;
  });
  if (problem !== null) return context.report(row.day, problem);
  if (row.isCleared && withAction !== null)
    context.report(row.day, `its action fields were cleared, and ${withAction} has some`);
  await comparePacked(context, objects, manifest);
  if (row.isCold) {
    const reader = new ColdDayReader(objects, manifest);
    await checkColdReceipts(context, reader, pins, await keptDays.of(row.day));
  }
  const unnamed = await countUnnamed(objects, manifest);
  if (unnamed > 0)
    context.note(
      `${row.day}: ${unnamed} objects that its manifest does not name, of a packer that was cut off or of a former manifest`,
    );
};

/**
 * Reads the Receipts once. Reads them again if their pins differ, or if the database keeps more of their Grants than
 * fits in memory.
 */
const checkColdReceipts = async (
  context: CheckContext,
  reader: ColdDayReader,
  pins: PinSums,
  kept: ColdKept,
): Promise<void> => {
  const { day } = kept;
  const facts = new ColdFacts(context, day);
  const caps = await BegunCaps.of(context, day);
  for await (const receipts of reader.receipts()) {
    await facts.add(receipts);
    kept.add(receipts);
    caps.add(receipts);
    await checkReceipts(context, await withFacts(context, receipts.map(ofObject)), (receipt) => {
      const pin = pinOfReceipt(receipt);
      if (pin !== null) pins.subtract(day, pin);
    });
  }
  await facts.end();
  await kept.end(reader);
  await caps.end();
  await namePins(context, reader, pins, day);
};

const ACTION_FIELDS = ['action_type', 'amount', 'currency', 'resource', 'method'] as const;

type OfObject = Omit<ListedReceipt, 'contentHash' | 'allowedGrantHash' | 'consumed'>;

const ofObject = ({
  receipt_id: id,
  relying_party: relyingParty,
  grant_id: grantId,
  evaluated_at: evaluatedAtUs,
  ...receipt
}: ReceiptRow): OfObject => ({
  ...{ receiptId: id as ReceiptId, relyingParty, grantId, agent: receipt.agent, jws: receipt.jws },
  ...{ principal: receipt.principal, decision: receipt.decision, reason: receipt.reason },
  evaluatedAtMs: String(evaluatedAtUs / 1_000n),
});

const FACTS = `
  select (select a.grant_hash from allowed_grants a where a.grant_id = r.grant_id and r.decision = 'ALLOW') as "allowedGrantHash",
    (select concat_ws(' ', e.grant_id, e.key, e.version - 1) from consumption_events e
      where e.receipt_id = r.id and e.cause = 'consume') as consumed
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as r (id, grant_id, decision, place) order by place`;

/** Adds what the database has of the Receipts; it stays there when a day is packed. */
const withFacts = async (
  { query }: CheckContext,
  receipts: readonly OfObject[],
): Promise<ListedReceipt[]> => {
  const facts = await query<Pick<ListedReceipt, 'allowedGrantHash' | 'consumed'>>(FACTS, [
    receipts.map(({ receiptId }) => receiptId),
    receipts.map(({ grantId }) => grantId),
    receipts.map(({ decision }) => decision),
  ]);
  return receipts.map((receipt, i) => ({
    ...receipt,
    allowedGrantHash: facts[i]?.allowedGrantHash ?? null,
    consumed: facts[i]?.consumed ?? null,
    contentHash: createHash('sha256').update(receipt.jws).digest(),
  }));
};

const countUnnamed = async (objects: ObjectStore, { day, tables }: ColdDay): Promise<number> => {
  const named = new Set(
    Object.values(tables)
      .flat()
      .map(({ name }) => name),
  );
  let unnamed = 0;
  for (const table of Object.keys(TABLES))
    for await (const name of namesBelow(objects, `${day}/${table.replace('_', '-')}`))
      if (!named.has(name)) unnamed += 1;
  return unnamed;
};
