/** The part of a search that lies in cold days, and the index columns of their rows as lists have them. */
import type { Stored } from '@svc/cold-ledger';
import { REASON_CODES, type ReceiptId, type Sha256 } from '@svc/protocol';
import type { DecisionRecord } from '@svc/service';
import { DayMovedError, findColdDays, type Question } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { dateOfDay } from '../receipt-ids.ts';
import type { Search } from './search.ts';
import type { Part } from './spans.ts';

/** What a search asks for. */
const ASKED = ['relying_party', 'principal', 'key_id', 'grant_id', 'reason'] as const;
const SHOWN = [
  ...ASKED,
  ...([
    'decision',
    'evaluated_at',
    'agent',
    'action_type',
    'amount',
    'currency',
    'resource',
    'method',
  ] as const),
];

type Asked = Pick<Stored<'receipts'>, (typeof ASKED)[number] | 'receipt_id'>;
export type ColdRow = Pick<Stored<'receipts'>, (typeof SHOWN)[number] | 'receipt_id'>;

/** At most `limit` of what is looked for in a part of one cold day, the newest first. */
export const searchColdDay = async (
  question: Question,
  search: Search,
  part: Part & { readonly day: number },
  limit: number,
): Promise<DecisionRecord[]> => {
  const hash = await manifestOf(question.database, part.day);
  const matches = matcherOf(search);
  return question.cold.read(question, hash, async (day, signal) => {
    const rows: DecisionRecord[] = [];
    for await (const group of day.scan({ ...part, columns: SHOWN, isDescending: true }, signal))
      for (const row of group) {
        if (matches(row)) rows.push(decisionOf(row));
        if (rows.length === limit) return rows;
      }
    return rows;
  });
};

const manifestOf = async (database: Database, dayNumber: number): Promise<Sha256> => {
  const day = dateOfDay(dayNumber);
  const hash = (await findColdDays(database, [day])).get(day);
  if (hash === undefined) throw new DayMovedError();
  return hash;
};

const REASONS: ReadonlySet<string> = new Set(REASON_CODES);

/** The conditions of `statements.ts`, but for the range of ids. */
const matcherOf = ({
  relyingParties,
  principal,
  keyId,
  grantId,
  reason,
  decision,
}: Search): ((row: Asked) => boolean) => {
  const parties = relyingParties === null ? null : new Set<string>(relyingParties);
  return (row) =>
    (parties === null || parties.has(row.relying_party)) &&
    (principal === undefined || row.principal === principal) &&
    (keyId === undefined || row.key_id === keyId) &&
    (grantId === undefined || row.grant_id === grantId) &&
    (reason === undefined || row.reason === reason) &&
    (decision !== 'ALLOW' || row.reason === null) &&
    (decision !== 'DENY' || (row.reason !== null && REASONS.has(row.reason)));
};

/** The row of a list. */
export const decisionOf = (row: ColdRow): DecisionRecord =>
  ({
    ...{ receiptId: row.receipt_id as ReceiptId, decision: row.decision, reason: row.reason },
    evaluatedAtMs: Number(row.evaluated_at / 1_000n),
    ...{ principal: row.principal, grantId: row.grant_id, agent: row.agent },
    ...{ relyingParty: row.relying_party, keyId: row.key_id, actionType: row.action_type },
    ...{ amount: row.amount === null ? null : Number(row.amount), currency: row.currency },
    ...{ resource: row.resource, method: row.method },
  }) as DecisionRecord;
