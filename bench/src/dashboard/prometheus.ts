/** Debian's Prometheus for the length of a run. It collects the metrics of the processes as an operator's would. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { databaseUser, startDaemon } from '../ha/daemon.ts';
import type { Place } from '../harness/contestants.ts';

export const SCRAPE_SECONDS = 5;
const START_MS = 20_000;
const QUERY_MS = 30_000;

/** A line of a panel: its labels, and its value at each time (Unix seconds). */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [atSeconds: number, value: string])[];
}

export interface Target {
  readonly name: string;
  /** Host and port of its admin port. */
  readonly address: string;
}

export interface Prometheus {
  /** Rejects with the message of Prometheus where it does not accept the expression. */
  queryRange(expression: string, fromMs: number, toMs: number): Promise<readonly Series[]>;
}

export async function startPrometheus(
  { folder, cleanup }: Place,
  targets: readonly Target[],
): Promise<Prometheus> {
  const place = join(folder, 'prometheus');
  mkdirSync(place);
  chownSync(place, databaseUser.uid, databaseUser.gid);
  const config = join(place, 'prometheus.yml');
  const jobs = targets.map(({ name, address }) => ({
    targets: [address],
    labels: { instance: name },
  }));
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: `${SCRAPE_SECONDS}s` },
      scrape_configs: [{ job_name: 'svc', static_configs: jobs }],
    }),
  );
  const origin = `http://127.0.0.1:${await findFreePort()}`;
  const daemon = startDaemon(
    [
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(place, 'data')}`,
      `--web.listen-address=${origin.slice('http://'.length)}`,
    ],
    { logFile: join(folder, 'prometheus.log') },
  );
  cleanup.add(() => daemon.kill());
  await untilReady(`${origin}/-/ready`);
  return {
    async queryRange(query, fromMs, toMs) {
      const [start, end] = [fromMs, toMs].map((ms) => String(ms / 1_000));
      const body = new URLSearchParams({ query, start, end, step: String(SCRAPE_SECONDS) } as Record<
        string,
        string
      >);
      const signal = AbortSignal.timeout(QUERY_MS);
      const answer = await fetch(`${origin}/api/v1/query_range`, { method: 'POST', body, signal });
      const { data, error } = (await answer.json()) as {
        readonly data?: { readonly result: readonly Series[] };
        readonly error?: string;
      };
      if (data === undefined) throw new Error(`${query}: ${error}`);
      return data.result;
    },
  };
}

async function untilReady(url: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  const isReady = () =>
    fetch(url, { signal: AbortSignal.timeout(START_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (performance.now() > giveUpAt) throw new Error('prometheus does not start: see prometheus.log');
    await delay(100);
  }
}
