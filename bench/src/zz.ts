import { mkdtempSync, writeFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { makeWorld } from './fixtures/world.ts';
import { Cleanup } from './harness/cleanup.ts';
import { startApiNode } from './harness/contestants.ts';
import { startDatabase } from './harness/database.ts';
import { LoadProcess } from './harness/load-process.ts';
const cleanup = new Cleanup();
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-zz-'));
  const database = await startDatabase(join(folder, 'database'), cleanup);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  if (process.env.FUNCS) await client.query(`alter database ${new URL(database.url).pathname.slice(1)} set track_functions = 'all'`);
  const node = await startApiNode({ folder, cleanup }, { name: 'x', api: process.env.API ?? '/work/main/apps/api/dist/main.js', databaseUrl: database.url });
  const worldFile = join(folder, 'world.json');
  writeFileSync(worldFile, JSON.stringify(await makeWorld(node, 100)));
  const load = LoadProcess.start({ folder, cleanup }, { worldFile });
  console.log('pid', node.program.pid, 'pg', database.postgresPid);
  for (let i = 0; i < Number(process.env.TURNS ?? 3); i++) {
    await load.sign(2000);
    if (process.env.FUNCS) await client.query('select pg_stat_reset()');
    const r = await load.load({ url: node.url, connections: 1, leadInMs: 300, windowMs: 3000, serverPid: node.program.pid, postgresPid: database.postgresPid });
    console.log(JSON.stringify({ p50: r.p50Ms, p99: r.p99Ms, allowed: r.allowed, node: (r.serverCpuMs * 1000) / r.allowed, pg: (r.postgresCpuMs * 1000) / r.allowed }));
  }
  if (process.env.FUNCS) { await new Promise((r) => setTimeout(r, 1500)); console.table((await client.query('select funcname, calls, (total_time/calls)::float4 as ms, (self_time/calls)::float4 as self from pg_stat_user_functions order by total_time desc limit 12')).rows); }
  await client.end();
} finally { await cleanup.run(); }
