/**
 * `npm run bench -- pages`: how soon each page shows something on a slow line (50 KB/s, 300 ms), how much it loads, and
 * its Lighthouse scores. Needs Debian's chromium. npx fetches Lighthouse, the first time over the network.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { type Browser, chromium } from 'playwright-core';
import type { Place } from '../harness/contestants.ts';
import { startProgram, waitForHttp } from '../harness/program.ts';
import { describeMachine, table, transpose } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { median } from '../load/percentile.ts';

const CHROMIUM = '/usr/bin/chromium';
const LIGHTHOUSE = 'lighthouse@12.8.2';
const API = fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url));

const PAGES = [
  '',
  'guide',
  'guide/protocol',
  'guide/errors/RATE_LIMITED',
  'playground',
  'verify-receipt',
  'transparency',
  'dashboard',
  'docs',
] as const;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

const BYTES_PER_SECOND = 50_000;
const LATENCY_MS = 300;
const ROUNDS = 3;
const PAINT_BAR_MS = 2_000;
const SCORE_BAR = 95;
const LIGHTHOUSE_DEADLINE_MS = 180_000;

interface Visit {
  /** First contentful paint, in milliseconds from the navigation. */
  readonly paintMs: number;
  /** Milliseconds until nothing more is loaded. */
  readonly wholeMs: number;
  /** Bytes on the wire. */
  readonly bytes: number;
}

const visit = async (browser: Browser, url: string): Promise<Visit> => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LATENCY_MS,
      downloadThroughput: BYTES_PER_SECOND,
      uploadThroughput: BYTES_PER_SECOND,
    });
    const beganMs = performance.now();
    await page.goto(url, { waitUntil: 'networkidle', timeout: 120_000 });
    const wholeMs = performance.now() - beganMs;
    const paintMs = await page.evaluate<number>(
      "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity",
    );
    return { paintMs, wholeMs, bytes };
  } finally {
    await context.close();
  }
};

/**
 * Scores from 0 to 100, by category. On a busy machine Lighthouse may miss the beginning of a visit, and reports that.
 */
const askLighthouse = (url: string, folder: string, attempts = 3): number[] => {
  const report = join(folder, 'lighthouse.json');
  const run = spawnSync(
    'npx',
    [
      ...['-y', LIGHTHOUSE, url, '--quiet', '--output=json', `--output-path=${report}`],
      `--only-categories=${CATEGORIES.join(',')}`,
      '--chrome-flags=--headless=new --no-sandbox',
    ],
    { env: { ...process.env, CHROME_PATH: CHROMIUM }, encoding: 'utf8', timeout: LIGHTHOUSE_DEADLINE_MS },
  );
  if (run.status !== 0 && attempts > 1) return askLighthouse(url, folder, attempts - 1);
  if (run.status !== 0) throw new Error(`Lighthouse has not judged ${url}: ${run.stderr || run.error}`);
  const { categories } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  };
  return CATEGORIES.map((name) => Math.round((categories[name]?.score ?? 0) * 100));
};

const measure = async ({ folder, cleanup }: Place): Promise<boolean> => {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no ${CHROMIUM}; apt-get install chromium`);
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const base = `http://127.0.0.1:${port}`;
  const environment = {
    ...{ NODE_ENV: '', SVC_DEMO: '1', SVC_DATA_DIR: join(folder, 'data') },
    ...{ SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort) },
  };
  const api = startProgram(
    { name: 'the API', command: [API], environment, logFile: join(folder, 'api.log') },
    cleanup,
  );
  await waitForHttp(`${base}/healthz`, api);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  cleanup.add(() => browser.close());

  const rows: string[][] = [];
  let isGood = true;
  for (const name of PAGES) {
    const url = `${base}/${name}`;
    const visits: Visit[] = [];
    for (let i = 0; i < ROUNDS; i++) visits.push(await visit(browser, url));
    const paintMs = median(visits.map((one) => one.paintMs));
    const asked = Array.from({ length: ROUNDS }, () => askLighthouse(url, folder));
    const scores = CATEGORIES.map((_, i) => median(asked.map((one) => one[i] ?? 0)));
    isGood &&= paintMs <= PAINT_BAR_MS && scores.every((score) => score >= SCORE_BAR);
    rows.push([
      `/${name}`,
      ...[paintMs, median(visits.map((one) => one.wholeMs))].map((ms) => (ms / 1_000).toFixed(2)),
      (median(visits.map((one) => one.bytes)) / 1_000).toFixed(0),
      ...scores.map(String),
    ]);
  }
  const head = ['', 'first paint s', 'all loaded s', 'KB', ...CATEGORIES];
  console.log(
    `${describeMachine()}; medians of ${ROUNDS} visits at 50 KB/s and 300 ms, and of ${ROUNDS} runs of ${LIGHTHOUSE}, its own settings\n`,
  );
  console.log(table(transpose([head, ...rows]), [0]).join('\n'));
  console.log(
    `\nbars: first paint ${PAINT_BAR_MS / 1_000} s, each score ${SCORE_BAR}: ${isGood ? 'held' : 'missed'}`,
  );
  return isGood;
};

await runBenchmark(async ({ place }) => {
  process.exitCode = (await measure(place)) ? 0 : 1;
});
