/** The speed of exporting decisions, page after page, and the memory it takes. */
import { readFileSync } from 'node:fs';
import type { ApiNode } from '../harness/contestants.ts';
import { cpuMsOfTree } from '../load/cpu.ts';
import type { LedgerDatabase } from './database.ts';
import { type Answer, get, type Nodes } from './nodes.ts';
import type { Ledger } from './prepare.ts';
import { atLeast, atMost, type Row } from './table.ts';

const PAGES = 40;
/**
 * Pages before memory is first read: over some fifty pages of cold days the heap of each thread grows to its final
 * size.
 */
const WARM_UP_PAGES = 60;
const ROWS_BAR = 20_000;
const GROWTH_BAR_MB = 64;
const POLL_MS = 20;

export interface ExportRun {
  readonly nodes: Nodes;
  readonly who: string;
  readonly keys: readonly string[];
  readonly database: LedgerDatabase;
  /** The export begins with the newest decision before this time; by default with the newest of all. */
  readonly untilMs?: number;
}

export const largestRpOf = ({ tenants }: Ledger) => ({ who: 'largest RP', keys: tenants.keys['largest RP'] });

export async function measureExport({ nodes, who, keys, database, untilMs }: ExportRun): Promise<Row[]> {
  const [forNdjson, forCsv = forNdjson] = nodes;
  const until = untilMs === undefined ? '' : `&until=${new Date(untilMs).toISOString()}`;
  return [
    ...(await exportFrom(forNdjson, who, keys, database, `format=ndjson${until}`)),
    ...(await exportFrom(forCsv, who, keys, database, `format=csv${until}`)),
  ];
}

async function exportFrom(
  node: ApiNode,
  who: string,
  keys: readonly string[],
  { postgresPid }: LedgerDatabase,
  query: string,
): Promise<Row[]> {
  const before = rssMb(node.program.pid);
  let [warm, peak] = [before, 0];
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMb(node.program.pid));
  }, POLL_MS);
  const speeds: number[] = [];
  let cpuBefore: readonly [number, number] = [0, 0];
  let [rows, ms, bytes, cursor] = [0, 0, 0, ''];
  try {
    for (let page = 0; page < WARM_UP_PAGES + PAGES; page++) {
      if (page === WARM_UP_PAGES) {
        warm = peak;
        peak = 0;
        cpuBefore = [cpuMsOfTree(node.program.pid), cpuMsOfTree(postgresPid)];
      }
      const path = `/decisions/export?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const answer = await get(node, path, { key: keys[page % keys.length] ?? '', isRead: false });
      cursor = headerOf(answer, 'x-svc-next-cursor');
      if (page >= WARM_UP_PAGES) {
        const count = Number(headerOf(answer, 'x-svc-rows'));
        rows += count;
        ms += answer.ms;
        bytes += answer.bytes;
        speeds.push(count / (answer.ms / 1000));
      }
    }
  } finally {
    clearInterval(timer);
  }
  const perSecond = rows / (ms / 1000);
  const cpuUs = (pid: number, beforeMs: number) => Math.round(((cpuMsOfTree(pid) - beforeMs) * 1000) / rows);
  const cost = `CPU of a row ${cpuUs(node.program.pid, cpuBefore[0])} µs API, ${cpuUs(postgresPid, cpuBefore[1])} µs PostgreSQL`;
  const what = `/decisions/export, ${who}, ${query}`;
  return [
    {
      what,
      p50: `${Math.round(speeds.sort((a, b) => a - b)[speeds.length >> 1] ?? 0).toLocaleString('en')}/s`,
      figure: `${Math.round(perSecond).toLocaleString('en')} rows/s`,
      ...atLeast(perSecond, ROWS_BAR),
      note: `${rows.toLocaleString('en')} rows, ${Math.round(bytes / 1e6)} MB; ${cost}`,
    },
    {
      what: `${what}, growth of memory`,
      p50: '',
      figure: `${Math.round(peak - warm)} MB`,
      ...atMost(peak - warm, GROWTH_BAR_MB),
      bar: `≤ ${GROWTH_BAR_MB} MB`,
      note: `RSS ${Math.round(before)} MB before, at most ${Math.round(warm)} MB in ${WARM_UP_PAGES} pages, ${Math.round(peak)} MB after`,
    },
  ];
}

const headerOf = ({ headers }: Answer, name: string): string => String(headers[name] ?? '');

function rssMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
