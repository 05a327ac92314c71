/**
 * A year of the ledger benchmark in which most days are cold: the built worker packs them, and the built API reads
 * them.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DAY_MS } from '@svc/protocol';
import { type Place, startApiNode } from '../harness/contestants.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { LedgerCluster } from '../ledger/database.ts';
import { measureDecisions } from '../ledger/decisions.ts';
import { largestRpOf, measureExport } from '../ledger/export.ts';
import { startNodes } from '../ledger/nodes.ts';
import { homeOf, prepare } from '../ledger/prepare.ts';
import { measureRequests } from '../ledger/requests.ts';
import type { Row } from '../ledger/table.ts';
import type { ColdOptions } from './options.ts';
import { runWorker } from './worker-rounds.ts';

/** Cold days, of 366. */
const COLD_DAYS = 330;
const LIST_MS = 300;
const CPU_BAR = 1.05;

export async function measureYear(place: Place, options: ColdOptions, progress: Progress): Promise<Row[]> {
  const { api, worker, year: receipts, requests: samples, rounds } = options;
  const kept = resolve(options.folder ?? join(place.folder, 'year'));
  mkdirSync(kept, { recursive: true });
  const isKept = options.folder !== null;
  const cluster = await LedgerCluster.open(join(kept, 'database'), isKept, place.cleanup);
  const { ledger, database } = await prepare({
    ...{ place, cluster, receipts, api, progress, isShort: false, environment: homeOf(kept) },
    file: join(kept, 'ledger.json'),
  });
  const environment = { ...homeOf(kept), SVC_COLD: pathToFileURL(join(kept, 'objects')).href };
  const { firstDayMs } = ledger;
  const seconds = await runWorker(place, {
    ...{ worker, databaseUrl: database.url, firstDayMs, progress, environment, coldDays: COLD_DAYS },
  });
  const packing = {
    ...{ what: 'closing, checking and packing the year, s', p50: '', figure: seconds.toFixed(0) },
    ...{ bar: '', isMissed: false, note: `${COLD_DAYS} days, by the worker` },
  };
  const coldMs = firstDayMs + COLD_DAYS * DAY_MS;
  const nodes = await startNodes(place, api, database.url, { environment });
  progress('asking');
  const rows = await measureRequests({ nodes, ledger, samples, progress, listMs: LIST_MS });
  progress('exporting');
  rows.push(...(await measureExport({ nodes, database, untilMs: coldMs, ...largestRpOf(ledger) })));
  progress('deciding');
  // A new process, like the one on the empty database: a heap that exports have enlarged is not a cost of cold days.
  const [first] = nodes;
  const deciding = {
    place,
    api,
    node: await startApiNode(place, { name: 'deciding', api, databaseUrl: database.url, first, environment }),
    database,
    rounds,
    seconds: options.seconds,
    progress,
    bar: CPU_BAR,
  };
  return [packing, ...rows, ...(await measureDecisions(deciding))];
}
