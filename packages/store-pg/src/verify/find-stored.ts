/**
 * Looks up receipts after an ambiguous commit. It uses a pool of its own, since all connections of the commits' pool
 * may share the fault. A connection that is not open in time is still opened to the end, and kept for the next look-up:
 * a server that is late with commits is even later with new sessions.
 */
import type { ReceiptId } from '@svc/protocol';
import { withinMs } from '@svc/service';
import type pg from 'pg';
import type { DeadlinePool } from '../deadline-pool.ts';
import { DURABLE } from '../durable.ts';
import { DeadlineError, toUnavailable } from '../errors.ts';
import type { Statement } from '../statement.ts';

export const storedStatement = (receiptIds: readonly ReceiptId[]): Statement => ({
  name: 'find_stored',
  text: 'select receipt_id as "receiptId" from receipts where receipt_id = any ($1::text[])',
  values: [receiptIds],
});

/** See `VerifyStore.findStored`. `deadlineMs` covers waiting for a connection and the look-up. */
export async function findStored(
  pool: DeadlinePool,
  receiptIds: readonly ReceiptId[],
  deadlineMs: number,
): Promise<ReadonlySet<ReceiptId>> {
  try {
    const found = pool.run((client) => lookUp(client, receiptIds));
    return await withinMs(deadlineMs, found, () => {
      throw new DeadlineError(`no answer within ${deadlineMs} ms`);
    });
  } catch (error) {
    throw toUnavailable(error);
  }
}

async function lookUp(client: pg.ClientBase, receiptIds: readonly ReceiptId[]): Promise<Set<ReceiptId>> {
  const { values, ...statement } = storedStatement(receiptIds);
  const { rows } = await client.query<{ receiptId: ReceiptId }>({ ...statement, values: [...values] });
  const stored = new Set(rows.map((row) => row.receiptId));
  if (stored.size > 0) await client.query(DURABLE);
  return stored;
}
