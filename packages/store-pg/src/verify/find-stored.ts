/**
 * Looks receipts up after an ambiguous commit, on a connection of its own: the pools may hold nothing but
 * connections that share the fault.
 */
import type { ReceiptId } from '@svc/protocol';
import { withinMs } from '@svc/service';
import { clientConfig, StoreClient } from '../client.ts';
import { DURABLE } from '../durable.ts';
import { DeadlineError, toUnavailable } from '../errors.ts';

/** See `VerifyStore.findStored`. `deadlineMs` covers connecting and asking. */
export async function findStored(
  databaseUrl: string,
  receiptIds: readonly ReceiptId[],
  deadlineMs: number,
): Promise<ReadonlySet<ReceiptId>> {
  const client = new StoreClient(clientConfig(databaseUrl, deadlineMs));
  client.on('error', () => {});
  try {
    return await withinMs(deadlineMs, lookUp(client, receiptIds), () => {
      throw new DeadlineError(`no answer within ${deadlineMs} ms`);
    });
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    client.destroy();
  }
}

async function lookUp(client: StoreClient, receiptIds: readonly ReceiptId[]): Promise<Set<ReceiptId>> {
  await client.connect();
  const { rows } = await client.query<{ receiptId: ReceiptId }>(
    'select receipt_id as "receiptId" from receipts where receipt_id = any ($1::text[])',
    [receiptIds],
  );
  const stored = new Set(rows.map((row) => row.receiptId));
  if (stored.size > 0) await client.query(DURABLE);
  return stored;
}
