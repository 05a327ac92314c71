/**
 * `npm run bench -- binding`: what the look-up of the Grant that is bound to a Grant id costs a decision. In one
 * session the facts query runs in turn with and without that look-up, call by call. The difference is compared with the
 * CPU time of a decision, measured before on the same database.
 */
import { factsText } from '@svc/store-pg';
import { Client } from 'pg';
import type { World } from '../fixtures/world.ts';
import { CONNECTIONS, LEAD_IN_MS, MOST_PER_SECOND, startLoaded } from '../harness/loaded.ts';
import { readMainOptions } from '../harness/options.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { median } from '../load/percentile.ts';

const CALLS_PER_ROUND = 4_000;
/** Requests in one facts query: about as many as on a loaded node. */
const BATCH = 8;
const BAR = 0.01;

const { rounds, seconds, api } = readMainOptions('binding');
const unboundText = factsText.replace('a.grant_hash', 'null');
if (unboundText === factsText) throw new Error('the facts query does not look up what is bound');

await runBenchmark(async ({ place }) => {
  console.log(describeMachine());
  const { database, world, load, target } = await startLoaded(place, { name: 'svc', api });
  const decisions = [];
  for (let round = 0; round <= rounds; round++) {
    await load.sign(Math.ceil(MOST_PER_SECOND * (seconds + LEAD_IN_MS / 1000)));
    const options = { ...target, connections: CONNECTIONS, leadInMs: LEAD_IN_MS, windowMs: seconds * 1000 };
    const { serverCpuMs, postgresCpuMs, allowed } = await load.load(options);
    decisions.push(((serverCpuMs + postgresCpuMs) * 1000) / allowed);
  }
  const decisionUs = median(decisions.slice(1));
  const sql = new Client({ connectionString: database.url });
  await sql.connect();
  place.cleanup.add(() => sql.end());
  const differences = [];
  for (let round = 0; round < rounds; round++) differences.push(await differenceUs(sql, world));
  const lookUpUs = median(differences) / BATCH;
  const share = lookUpUs / decisionUs;
  const range = differences.map((us) => ((us / BATCH / decisionUs) * 100).toFixed(2)).sort();
  console.log(`a decision ${decisionUs.toFixed(0)} µs of CPU, node and PostgreSQL`);
  console.log(`the look-up of what is bound ${lookUpUs.toFixed(2)} µs of it`);
  console.log(
    `${(share * 100).toFixed(2)} % (rounds ${range[0]} to ${range.at(-1)} %), bar ${BAR * 100} %: ${share <= BAR ? 'holds' : 'MISSED'}`,
  );
  if (share > BAR) process.exitCode = 1;
});

/**
 * The median with the look-up minus the median without it, in microseconds, for one call with a batch. Both include
 * time on the wire.
 */
async function differenceUs(sql: Client, { principal, holders }: World): Promise<number> {
  const times = { bound: [] as number[], unbound: [] as number[] };
  const texts = { bound: factsText, unbound: unboundText };
  for (let call = 0; call < CALLS_PER_ROUND; call++) {
    const grantIds = Array.from({ length: BATCH }, (_, i) => holders[(call + i) % holders.length]?.grantId);
    for (const name of call % 2 === 0 ? (['bound', 'unbound'] as const) : (['unbound', 'bound'] as const)) {
      const begun = performance.now();
      await sql.query({ name, text: texts[name], values: [[principal.did], grantIds] });
      times[name].push((performance.now() - begun) * 1000);
    }
  }
  return median(times.bound) - median(times.unbound);
}
