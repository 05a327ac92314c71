/**
 * Looks receipts up after an ambiguous commit, over a connection of a pool that has nothing else to do: that of commits
 * may hold nothing but connections that share the fault. One that is not open in time is opened to its end and kept for
 * the next: a server that is late with commits is late with new sessions above all.
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

/** See `VerifyStore.findStored`. `deadlineMs` covers waiting for a connection and asking. */
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
