/** Records on the clients' side what they were answered. After each fault the database is compared with it. */
import type { QueryResultRow } from 'pg';
import { percentile } from '../load/percentile.ts';

export interface Answered {
  readonly receiptId: string;
  readonly grantId: string;
  readonly jti: string;
  readonly isAllow: boolean;
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface Verdict {
  readonly receipts: number;
  readonly revocations: number;
  readonly lostReceipts: number;
  readonly lostRevocations: number;
  readonly lateAllows: number;
  readonly doubleSpends: number;
  readonly overdrawn: number;
}

/** Whether nothing that was answered is missing. */
export const isClean = (verdict: Verdict): boolean =>
  verdict.lostReceipts +
    verdict.lostRevocations +
    verdict.lateAllows +
    verdict.doubleSpends +
    verdict.overdrawn ===
  0;

export const describeVerdict = (verdict: Verdict): string =>
  `${verdict.receipts} Receipts, ${verdict.lostReceipts} lost; ${verdict.revocations} revocations, ${verdict.lostRevocations} lost; ` +
  `${verdict.lateAllows} late ALLOWs; ${verdict.doubleSpends} double spends; ${verdict.overdrawn} overdrawn`;

/** A connection to the present database. */
export interface Queryable {
  sql<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

const CHUNK = 5_000;

export class Ledger {
  readonly answered: Answered[] = [];
  /** When the 200 of each revocation arrived. */
  readonly revokedMs = new Map<string, number>();
  /** Number of uses of each Grant with a budget. */
  readonly uses = new Map<string, number>();

  /** The longest time without any answer, and the latency of requests, between two moments. */
  describe(fromMs: number, toMs: number): { outageMs: number; p99Ms: number } {
    const within = this.answered.filter(({ answeredMs }) => answeredMs >= fromMs && answeredMs <= toMs);
    const moments = [fromMs, ...within.map(({ answeredMs }) => answeredMs).sort((a, b) => a - b), toMs];
    const gaps = moments.slice(1).map((moment, i) => moment - (moments[i] ?? moment));
    const times = within.map(({ sentMs, answeredMs }) => answeredMs - sentMs);
    return { outageMs: Math.max(0, ...gaps), p99Ms: percentile(times, 99) };
  }

  /** Compares the record with the present primary. */
  async examine(database: Queryable): Promise<Verdict> {
    const allows = this.answered.filter(({ isAllow }) => isAllow);
    const late = allows.filter(
      ({ grantId, sentMs }) => sentMs > (this.revokedMs.get(grantId) ?? Number.POSITIVE_INFINITY),
    );
    const receiptIds = [...new Set(this.answered.map(({ receiptId }) => receiptId))];
    return {
      receipts: receiptIds.length,
      revocations: this.revokedMs.size,
      lostReceipts: await countMissing(
        database,
        receiptIds,
        'receipt_id from receipts where receipt_id = any ($1)',
      ),
      lostRevocations: await countMissing(
        database,
        [...this.revokedMs.keys()],
        'id from grants where id = any ($1) and revoked_at is not null',
      ),
      lateAllows: late.length,
      doubleSpends: countOver(
        allows,
        ({ grantId, jti }) => `${grantId} ${jti}`,
        () => 1,
      ),
      overdrawn: countOver(
        allows,
        ({ grantId }) => grantId,
        (grant) => this.uses.get(grant) ?? Number.POSITIVE_INFINITY,
      ),
    };
  }
}

async function countMissing(database: Queryable, ids: readonly string[], from: string): Promise<number> {
  let found = 0;
  for (let i = 0; i < ids.length; i += CHUNK) {
    const rows = await database.sql<{ count: number }>(
      `select count(*)::int from (select ${from}) as found`,
      [ids.slice(i, i + CHUNK)],
    );
    found += rows[0]?.count ?? 0;
  }
  return ids.length - found;
}

/** Number of Receipts beyond what is allowed under each name. */
function countOver(
  answered: readonly Answered[],
  nameOf: (one: Answered) => string,
  limitOf: (name: string) => number,
): number {
  const receipts = new Map<string, Set<string>>();
  for (const one of answered) {
    const name = nameOf(one);
    receipts.set(name, (receipts.get(name) ?? new Set()).add(one.receiptId));
  }
  return [...receipts].reduce((sum, [name, { size }]) => sum + Math.max(0, size - limitOf(name)), 0);
}
