/** `svc-admin fsck` over real decisions: the API verified, signed and stored each of them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { World } from '../fixtures/world.ts';
import type { ApiNode, Place } from '../harness/contestants.ts';
import type { Database } from '../harness/database.ts';
import { startLoadOf } from '../harness/loaded.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { atMost, type Row } from '../ledger/table.ts';
import { peakMegabytes } from './memory.ts';
import type { DayOptions } from './options.ts';

/** Proofs signed ahead: they are fresh for 300 s. */
const AT_ONCE = 20_000;
const CONNECTIONS = 16;

export interface Decisions {
  readonly place: Place;
  readonly node: ApiNode;
  readonly database: Database;
  readonly world: World;
  readonly count: number;
  readonly progress: Progress;
}

/** Stores the given number of ALLOWs. */
export async function storeDecisions(run: Decisions): Promise<void> {
  const { place, node, database, world, count, progress } = run;
  const load = startLoadOf(place, 'world', world);
  for (let done = 0; done < count; ) {
    await load.sign(Math.min(AT_ONCE, count - done));
    const { others } = await load.load({
      ...{ url: node.url, connections: CONNECTIONS, leadInMs: 1, windowMs: 250_000 },
      ...{ serverPid: node.program.pid, postgresPid: database.postgresPid },
    });
    // A machine that is busy with other work may have stored fewer.
    const other = Object.keys(others).find((what) => !what.startsWith('503'));
    if (other !== undefined) throw new Error(`a verify answered ${other}`);
    done += Math.min(AT_ONCE, count - done);
    progress(`${done.toLocaleString('en')} of ${count.toLocaleString('en')} decisions`);
  }
}

/** Measures fsck. Runs the worker once before it, so that usage is counted. */
export async function measureFsck(
  databaseUrl: string,
  dataDir: string,
  { admin, worker }: Pick<DayOptions, 'admin' | 'worker'>,
  baseUrl: string,
): Promise<Row> {
  const environment = { DATABASE_URL: databaseUrl, SVC_DATA_DIR: dataDir, SVC_BASE_URL: baseUrl };
  await run([worker, '--once'], environment);
  const began = performance.now();
  const { out, peak } = await run([admin, 'fsck', '--json'], environment);
  const seconds = (performance.now() - began) / 1000;
  const { checks } = JSON.parse(out) as { checks: { name: string; looked: number }[] };
  const looked = checks.find(({ name }) => name === 'receipts')?.looked ?? 0;
  return {
    what: 'svc-admin fsck, seconds',
    p50: '',
    figure: seconds.toFixed(1),
    ...atMost(seconds, 60),
    note: `${looked.toLocaleString('en')} decisions, peak ${peak.toFixed(0)} MB, no fault`,
  };
}

const run = (command: readonly string[], environment: Readonly<Record<string, string>>) =>
  new Promise<{ out: string; peak: number }>((resolve, reject) => {
    const child = spawn(process.execPath, command, {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { out: '', err: '' };
    let peak = 0;
    const timer = setInterval(() => {
      if (child.exitCode === null && child.pid !== undefined) peak = Math.max(peak, peakOf(child.pid));
    }, 50);
    child.stdout.on('data', (chunk) => {
      text.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.err += chunk;
    });
    child.once('close', (code) => {
      clearInterval(timer);
      if (code === 0) resolve({ out: text.out, peak });
      else reject(new Error(`${command.join(' ')}: exit ${code}\n${text.err}${text.out}`));
    });
  });

/** Peak memory of a process; 0 where it has ended meanwhile. */
const peakOf = (pid: number): number => {
  try {
    return peakMegabytes(pid) || 0;
  } catch {
    return 0;
  }
};

export const dataDirOf = ({ folder }: Place, name: string): string => join(folder, `${name}-data`);
