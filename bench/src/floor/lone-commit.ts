/**
 * Commits without other load: the floor's rows for a single decision, one commit after another on one connection. The
 * Grants take turns.
 */
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

export interface CommitAlone {
  /** Milliseconds before commits are counted. */
  readonly leadInMs: number;
  readonly forMs: number;
}

let turn = 0;

async function commitOne(): Promise<void> {
  const id = randomBytes(16).toString('base64url');
  const grantId = world.holders[turn++ % world.holders.length]?.grantId ?? '';
  await insertRows(client, [{ receiptId: `drc_${id}`, grantId, jti: id, jws }], world);
}

/** Commits for the given time and returns the median in milliseconds. */
async function measure({ leadInMs, forMs }: CommitAlone): Promise<number> {
  const counted = performance.now() + leadInMs;
  while (performance.now() < counted) await commitOne();
  const latenciesMs: number[] = [];
  const end = performance.now() + forMs;
  for (let began = performance.now(); began < end; began = performance.now()) {
    await commitOne();
    latenciesMs.push(performance.now() - began);
  }
  return percentile(latenciesMs, 50);
}

process.on('message', (asked: CommitAlone) => {
  measure(asked).then(
    (p50Ms) => process.send?.(p50Ms),
    (problem: unknown) => {
      console.error(problem);
      process.exit(1);
    },
  );
});
