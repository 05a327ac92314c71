/**
 * Looks receipts up after an ambiguous commit, on a connection of its own: the pools may hold nothing but
 * connections that share the fault.
 */
import type { ReceiptId } from '@svc/protocol';
import { clientConfig, StoreClient } from '../client.ts';
import { DeadlineError, toUnavailable } from '../errors.ts';

/** See `VerifyStore.findStored`. `deadlineMs` covers connecting and asking. */
export async function findStored(
  databaseUrl: string,
  receiptIds: readonly ReceiptId[],
  deadlineMs: number,
): Promise<ReadonlySet<ReceiptId>> {
  const client = new StoreClient(clientConfig(databaseUrl, deadlineMs));
  client.on('error', () => {});
  let timer: NodeJS.Timeout | undefined;
  try {
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DeadlineError(`no answer within ${deadlineMs} ms`)), deadlineMs);
    });
    return await Promise.race([lookUp(client, receiptIds), deadline]);
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    clearTimeout(timer);
    client.destroy();
  }
}

async function lookUp(client: StoreClient, receiptIds: readonly ReceiptId[]): Promise<Set<ReceiptId>> {
  await client.connect();
  const { rows } = await client.query<{ receiptId: ReceiptId }>(
    'select receipt_id as "receiptId" from receipts where receipt_id = any ($1::text[])',
    [receiptIds],
  );
  return new Set(rows.map((row) => row.receiptId));
}
