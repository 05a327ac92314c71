/** One commit alone: the floor's row set for a single decision, one after another on one connection. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { endWithParent, readProgramEnvironment } from '../fixtures/program-environment.ts';
import { percentile } from '../load/percentile.ts';
import { insertRows } from './row-set.ts';

const { databaseUrl, world } = readProgramEnvironment();
endWithParent();
const client = new Client({ connectionString: databaseUrl });
await client.connect();
const jws = randomBytes(2_100).toString('base64url');

/** Commits for so long and answers the median in milliseconds. */
async function measure(forMs: number): Promise<number> {
  const latenciesMs: number[] = [];
  const end = performance.now() + forMs;
  for (let began = performance.now(); began < end; began = performance.now()) {
    const id = randomBytes(16).toString('base64url');
    await insertRows(
      client,
      [{ receiptId: `drc_${id}`, grantId: 'urn:svc:grant:lone', jti: id, jws }],
      world,
    );
    latenciesMs.push(performance.now() - began);
  }
  return percentile(latenciesMs, 50);
}

process.on('message', (forMs: number) => {
  measure(forMs).then(
    (p50Ms) => process.send?.(p50Ms),
    (problem: unknown) => {
      console.error(problem);
      process.exit(1);
    },
  );
});
