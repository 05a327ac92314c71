/**
 * Checks the budgets of every Grant with consumption events (protocol §11): the log has no gap and replays to the
 * balances; each consume event matches its Receipt, which pins the balances before it; each restore matches its
 * attestation and gives back exactly what was consumed.
 *
 * The converse, that a Receipt which consumed has its event, is checked in receipts.ts. That a cold Receipt exists is
 * checked in cold-facts.ts, and what it pins in cold-pins.ts.
 */
import type { GrantId, ReceiptBody } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import { dayOfReceipt } from '@svc/transparency';
import { type Check, type CheckContext, pages } from '../check.ts';
import { listColdDays } from '../cold-days.ts';
import type { PinSums } from './pin-sums.ts';
import { differencesOf, pinOfEvent, pinOfReceipt } from './pins.ts';
import { type Replayed, replay } from './replay.ts';

const GRANTS = `
  select grant_id as "grantId" from (
    select grant_id from consumption_events union select grant_id from consumption_balances
  ) g where grant_id > $1 order by grant_id limit $2`;

/** Ids as a parameter, because with a join the planner would consider every partition. */
const RECEIPTS = 'select receipt_id as "receiptId", jws from receipts where receipt_id = any ($1::text[])';

/** `pins`: collects what Receipts of cold days must pin, for the comparison with these Receipts. */
export const consumptionCheck = (pins: PinSums | null): Check => ({
  name: 'consumption',
  promise:
    'every budget is what its log adds up to, and every movement in that has its Receipt, but for those of cold days, or its attestation',
  countSql: 'select count(*) from consumption_events',
  async run(context) {
    const cold = await listColdDays(context);
    for await (const rows of pages<{ grantId: GrantId }>(context, GRANTS, ({ grantId }) => grantId))
      for (const { grantId } of rows) await checkGrant(context, grantId, cold, pins);
  },
});

const checkGrant = async (
  context: CheckContext,
  grantId: GrantId,
  cold: ReadonlySet<string>,
  pins: PinSums | null,
): Promise<void> => {
  const report = (problem: string) => context.report(grantId, problem);
  for await (const page of replay(context.query, grantId, report)) {
    const receipts = await loadReceipts(context, page);
    for (const replayed of page) {
      const { event } = replayed;
      const receipt = receipts.get(event.receiptId);
      const day = event.cause === 'consume' ? dayOfReceipt(event.receiptId) : null;
      const isCold = day !== null && cold.has(day);
      if (isCold) pins?.add(day, pinOfEvent(replayed));
      if (isCold && receipt === undefined) continue;
      for (const problem of problemsOf(replayed, receipt)) report(`version ${event.version}: ${problem}`);
    }
    context.advance(page.length);
  }
};

/** Loads those Receipts in the database that consume events name. */
const loadReceipts = async (
  { query }: CheckContext,
  page: readonly Replayed[],
): Promise<ReadonlyMap<string, string>> => {
  const consumes = page.filter(({ event }) => event.cause === 'consume');
  const ids = consumes.map(({ event }) => event.receiptId);
  if (ids.length === 0) return new Map();
  const rows = await query<{ receiptId: string; jws: string }>(RECEIPTS, [ids]);
  return new Map(rows.map(({ receiptId, jws }) => [receiptId, jws]));
};

function* problemsOf(replayed: Replayed, jws: string | undefined): Generator<string> {
  const { event, before } = replayed;
  if (event.cause !== 'consume') {
    if (!event.isCaused) yield `it is not the ${event.cause} of its attestation`;
    return;
  }
  const text = jws === undefined ? null : receiptTextOf(jws);
  if (text === null) return yield `there is no Receipt ${event.receiptId}`;
  const said = pinOfReceipt(JSON.parse(text) as ReceiptBody);
  if (said === null || said.grantId !== before.grantId)
    return yield `${event.receiptId} consumes nothing of this Grant`;
  yield* differencesOf(said, pinOfEvent(replayed));
}
