/**
 * Looks receipts up after an ambiguous commit, on a connection of its own: the pools may hold nothing but
 * connections that share the fault.
 */
import type { ReceiptId } from '@svc/protocol';
import { withinMs } from '@svc/service';
import { clientConfig, StoreClient } from '../client.ts';
import { DURABLE } from '../durable.ts';
import { DeadlineError, ReplacedError, toUnavailable } from '../errors.ts';
import type { Standing } from '../standing.ts';

/** See `VerifyStore.findStored`. `deadlineMs` covers connecting and asking. */
export async function findStored(
  databaseUrl: string,
  receiptIds: readonly ReceiptId[],
  deadlineMs: number,
  standing: Standing,
): Promise<ReadonlySet<ReceiptId>> {
  const client = new StoreClient(clientConfig(databaseUrl, deadlineMs));
  client.on('error', () => {});
  try {
    const stored = await withinMs(deadlineMs, lookUp(client, receiptIds), () => {
      throw new DeadlineError(`no answer within ${deadlineMs} ms`);
    });
    if (!standing.counts(client.server) || client.isUnreplicated)
      throw new ReplacedError('the server has been replaced');
    return stored;
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
