import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeWorld } from '../fixtures/world.ts';
import { Cleanup } from '../harness/cleanup.ts';
import { treeOf } from './daemon.ts';
import { LoneServer } from './lone-server.ts';
import { Offered } from './offered.ts';
import { startServices } from './services.ts';

const cleanup = new Cleanup();
const [share = '0', seconds = '10'] = process.argv.slice(2);
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-ha-probe-'));
  chmodSync(folder, 0o755);
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const place = { folder, cleanup };
  const server = await LoneServer.start(place, { diskSizes: { data: 4096, wal: 2048 } });
  await server.sql(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await server.stop();
  await server.run();
  await server.sql(`alter system set pg_stat_statements.track = 'all'`);
  await server.sql('alter system set pg_stat_statements.track_planning = on');
  await server.sql('select pg_reload_conf()');
  await server.sql('create extension if not exists pg_stat_statements');
  const routes = { first: server.url, second: server.url, others: server.url };
  const services = await startServices(place, routes, { hasStandby: false, apps: '/work/main/apps' });
  const service = { baseUrl: services.nodes[0]?.origin ?? '', adminToken: services.adminToken };
  const offered = new Offered(services.nodes, await makeWorld(service, 100, 'overload'));
  const pgPid = Number(readFileSync(join(server.data.folder, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  const ticks = () => {
    let t = 0;
    for (const p of treeOf(pgPid)) {
      try {
        const f = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]!.split(' ');
        t += Number(f[11]) + Number(f[12]);
      } catch {}
    }
    return t;
  };
  const top = async (title: string, ms: number) => {
    console.log(title);
    const rows = await server.sql<any>(
      `select calls, round(total_exec_time::numeric,1) as ms, plans, round(total_plan_time::numeric,1) as pms, toplevel, regexp_replace(left(query, 110), '\\s+', ' ', 'g') as q from pg_stat_statements where query !~ 'pg_stat' order by total_exec_time desc limit 22`,
    );
    for (const r of rows)
      console.log(
        `  ${String(r.calls).padStart(6)} ${String(r.ms).padStart(9)} ms  ${String(r.plans).padStart(5)} ${String(r.pms).padStart(6)} ${r.toplevel ? 'T' : ' '} ${r.q}`,
      );
  };
  await delay(8000);
  const measure = async (title: string, work: () => Promise<any>, s: number) => {
    await server.sql('select pg_stat_statements_reset()');
    const a = ticks();
    const b = performance.now();
    const out = await work();
    const ms = performance.now() - b;
    const cpu = (ticks() - a) * 10;
    await top(
      `${title}: pg cpu ${((cpu / ms) * 100).toFixed(1)} %  (${cpu} ms in ${ms.toFixed(0)} ms) ${out?.describe?.() ?? ''}`,
      s,
    );
  };
  if (Number(share) > 0) server.hold(Number(share));
  await measure('idle', () => delay(3000), 20);
  await offered.byClients(48, 8);
  await measure('48 clients', () => offered.byClients(48, Number(seconds)), Number(seconds));
  const rate = Number(process.argv[4] ?? 450);
  const auto = async () => {
    for (const p of treeOf(pgPid)) {
      try {
        const c = readFileSync(`/proc/${p}/cmdline`, 'utf8').replace(/\0/g, ' ').trim();
        const f = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]!.split(' ');
        const t = (Number(f[11]) + Number(f[12])) * 10;
        if (t > 200) console.log('   ', t, 'ms', c.slice(0, 80));
      } catch {}
    }
  };
  for (let i = 0; i < Number(process.argv[5] ?? 1); i++) {
    await measure(`${rate}/s`, () => offered.atRate(rate, 50), 10);
    await auto();
    console.log(
      await server
        .sql(
          'select relname, n_live_tup as live, n_dead_tup as dead, autovacuum_count as vac, autoanalyze_count as ana, pg_table_size(relid)/1024/1024 as mb from pg_stat_user_tables where n_live_tup > 500 or n_dead_tup > 500 order by n_dead_tup desc limit 8',
        )
        .then((r) => r.map((x) => JSON.stringify(x)).join('\n')),
    );
  }
  await measure('48 clients again', () => offered.byClients(48, Number(seconds)), Number(seconds));
  for (const f of readdirSync(folder, { recursive: true }) as string[])
    if (/api-\d\.log$/.test(f)) {
      const late: string[] = [];
      const m = new Map<string, number>();
      for (const l of readFileSync(join(folder, f), 'utf8').split('\n')) {
        if (!l.includes('"status":503')) {
          const d = /"detail":"([^"]*)"/.exec(l)?.[1];
          if (d) {
            const k = 'DETAIL ' + d.replace(/\d+/g, 'N');
            m.set(k, (m.get(k) ?? 0) + 1);
          }
          continue;
        }
        const o = JSON.parse(l);
        if (o.durationMs > 380)
          late.push(`${o.time.slice(14, 23)} ${o.keyId ? 'key' : 'nokey'} ${Math.round(o.durationMs)}`);
        const k = `${o.keyId ? 'key' : 'nokey'} ${o.durationMs > 1500 ? '>1500' : o.durationMs > 380 ? '>380' : o.durationMs > 250 ? '>250' : '<250'} ${o.detail ?? ''}`;
        m.set(k, (m.get(k) ?? 0) + 1);
      }
      console.log(f, m);
      console.log(late.join('\n'));
    }
} finally {
  await cleanup.run();
}
process.exit();
