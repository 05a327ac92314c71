/**
 * Gathers rows while earlier batches are being committed; at most two batches are in flight. No row waits for a timer.
 */
import { Client } from 'pg';
import type { World } from '../fixtures/world.ts';
import { insertRows, type Row } from './row-set.ts';

const IN_FLIGHT = 2;
const MAX_BATCH = 64;

interface Waiting {
  readonly row: Row;
  readonly settle: (stored: boolean) => void;
  readonly fail: (reason: unknown) => void;
}

export class BatchWriter {
  private readonly waiting: Waiting[] = [];

  private constructor(
    private readonly idle: Client[],
    private readonly world: World,
  ) {}

  static async open(databaseUrl: string, world: World): Promise<BatchWriter> {
    const clients = Array.from({ length: IN_FLIGHT }, () => new Client({ connectionString: databaseUrl }));
    await Promise.all(clients.map((client) => client.connect()));
    return new BatchWriter(clients, world);
  }

  /** True where the row is stored durably; false where its Proof was already spent. */
  insert(row: Row): Promise<boolean> {
    return new Promise((settle, fail) => {
      this.waiting.push({ row, settle, fail });
      this.pump();
    });
  }

  private pump() {
    const client = this.waiting.length === 0 ? undefined : this.idle.pop();
    if (client !== undefined) void this.write(client, this.waiting.splice(0, MAX_BATCH));
  }

  private async write(client: Client, batch: readonly Waiting[]) {
    try {
      const rows = batch.map(({ row }) => row);
      const stored = await insertRows(client, rows, this.world);
      for (const { row, settle } of batch) settle(stored.has(row.receiptId));
    } catch (reason) {
      for (const { fail } of batch) fail(reason);
    }
    this.idle.push(client);
    this.pump();
  }
}
