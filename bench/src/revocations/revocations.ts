/**
 * `npm run bench -- revocations`: the latency of a Principal's revocations beside ten orgs that revoke at full rate, on
 * one node and on two. Ends with 1 when one is refused, or the bar is missed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { readMainOptions } from '../harness/options.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { percentile } from '../load/percentile.ts';
import { measureRound } from './round.ts';

const HOSTILE_ORGS = 10;
/** Below the limit of 120 calls a minute of one key. */
const REVOCATIONS = 110;
const P99_BAR_MS = 1_000;

const { rounds, api, json } = readMainOptions('revocations');
await runBenchmark(async ({ place }) => {
  const { folder, cleanup } = place;
  console.log(describeMachine());
  const database = await startDatabase(join(folder, 'database'), cleanup);
  const request = { name: 'svc', api, databaseUrl: database.url };
  const first = await startApiNode(place, request);
  const second = await startApiNode(place, { ...request, first });
  const sql = new Client({ connectionString: database.url });
  await sql.connect();
  cleanup.add(() => sql.end());
  const results = [];
  for (const nodes of [[first], [first, second]])
    for (const hostileOrgs of [0, HOSTILE_ORGS]) {
      const measured = [];
      for (let round = 1; round <= rounds; round++)
        measured.push(await measureRound(nodes, sql, { round, hostileOrgs, revocations: REVOCATIONS }));
      const latencies = measured.flatMap(({ latenciesMs }) => latenciesMs);
      const refused = measured.reduce((sum, round) => sum + round.refused, 0);
      const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
      results.push({ nodes: nodes.length, hostileOrgs, p50, p99, refused, measured });
      const beside = measured.map(
        ({ hostile, hostilePerSecond }) => `${Math.round(hostilePerSecond)}/s ${JSON.stringify(hostile)}`,
      );
      console.log(
        `${nodes.length} node(s), ${hostileOrgs} orgs beside: ${latencies.length} revocations, p50 ${p50.toFixed(0)} ms, ` +
          `p99 ${p99.toFixed(0)} ms, ${refused} refused${hostileOrgs === 0 ? '' : `; beside: ${beside.join(', ')}`}`,
      );
    }
  if (json !== null) writeFileSync(json, JSON.stringify({ machine: describeMachine(), results }, null, 2));
  const missed = results.filter(({ p99, refused }) => refused > 0 || p99 > P99_BAR_MS);
  console.log(`bar: none refused, p99 at most ${P99_BAR_MS} ms: ${missed.length === 0 ? 'met' : 'MISSED'}`);
  if (missed.length > 0) process.exitCode = 1;
});
