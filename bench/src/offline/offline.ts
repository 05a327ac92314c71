/**
 * `npm run bench -- offline`: the cost of checking a Receipt offline beyond its signature, and of a bundle and an
 * audit, in Node and in Chromium; and the size of the code that a page loads for it. Ends with 1 when a bar is missed.
 */
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type CryptoPort, portableCrypto } from '@svc/protocol';
import { openEd25519 } from '@svc/signers';
import { bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import { buildWorld, publicKeyOf, serviceDocument } from '@svc/testkit/receipts/world';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { count, readOptions } from '../harness/command-line.ts';
import { figureOf } from '../harness/ratios.ts';
import { describeMachine, printFigures, table, transpose } from '../harness/report.ts';
import { median } from '../load/percentile.ts';
import { CASES, type Costs, type Given, measureCases } from './cases.ts';

const CHROMIUM = '/usr/bin/chromium';
const BENCH = fileURLToPath(new URL('..', import.meta.url));
const ENTRIES = ['@svc/receipts', '@svc/receipts/bundle', '@svc/receipts/audit'] as const;

const { rounds, turn: turnMs } = readOptions('offline', {
  command: 'npm run bench -- offline [options]',
  options: {
    rounds: count({ default: 9, least: 1, most: 100, text: 'interleaved rounds' }),
    turn: count({ default: 200, least: 10, most: 1e4, takes: 'MS', text: 'of each check in each round' }),
  },
});
const options = { rounds, turnMs };

/** Makes a Receipt as the service answers it, in the bundle of its day. */
async function prepare(): Promise<Given> {
  const world = await buildWorld();
  const bundle = bundleOf(world, await closeDayOf(world));
  const [header = '', payload = '', signature = ''] = world.signed.jws.split('.');
  return {
    receipt: world.signed.text,
    bundle: JSON.stringify(bundle),
    serviceDidDocument: serviceDocument,
    audited: { grant: world.grant, proof: world.proof, action: world.action, proofWindowSeconds: 60 },
    bare: {
      publicKey: Buffer.from(publicKeyOf(1)).toString('base64url'),
      signingInput: `${header}.${payload}`,
      signature,
    },
  };
}

const bundled = async (contents: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: BENCH, loader: 'ts' },
    ...{ bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
  });
  return outputFiles[0]?.text ?? '';
};

/** Null where Chromium is not installed. */
async function measureInChromium(given: Given): Promise<Costs | null> {
  if (!existsSync(CHROMIUM)) return null;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.addScriptTag({
      content: await bundled("import './src/offline/in-browser.ts';"),
      type: 'module',
    });
    const call = `measureOffline(${JSON.stringify(given)}, ${JSON.stringify(options)})`;
    await page.waitForFunction('globalThis.measureOffline !== undefined', null, { timeout: 10_000 });
    return await page.evaluate<Costs>(call);
  } finally {
    await browser.close();
  }
}

const given = await prepare();
console.log(
  `${describeMachine()}, load ${loadavg()[0]?.toFixed(1)}; a Receipt of ${given.receipt.length} characters`,
);
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const inNode = (crypto: CryptoPort) => measureCases(given, crypto, options, cpuMs);
const sodium = await openEd25519('auto');
const node = await openEd25519('node');
const places: (readonly [string, Costs | null])[] = [
  [`Node, ${sodium.name}`, inNode(sodium.crypto)],
  ['Node, node:crypto', inNode(node.crypto)],
  ['Node, portable', inNode(portableCrypto)],
  ['Chromium, portable', await measureInChromium(given)],
];
const measured = places.flatMap(([name, costs]) => (costs === null ? [] : [[name, costs] as const]));
if (measured.length < places.length) console.log(`SKIPPED: Chromium. There is no ${CHROMIUM}`);
const rows = measured.map(([name, costs]) => [name, ...CASES.map((one) => median(costs[one]).toFixed(0))]);
const head = ['µs (of CPU in Node)', 'signature alone', 'verifyReceipt', 'verifyBundle', 'audit'];
console.log(`\n${table(transpose([head, ...rows]), [0]).join('\n')}`);

const sizes: string[][] = [];
for (const entry of ENTRIES) {
  const code = await bundled(`export * from '${entry}';`);
  sizes.push([entry, String(Buffer.byteLength(code)), String(gzipSync(code, { level: 9 }).byteLength)]);
}
const title = ['bytes in a page', 'minified', 'gzip'];
console.log(`\n${table(transpose([title, ...sizes]), [0]).join('\n')}`);

const figures = measured.map(([name, { bare, receipt }]) =>
  figureOf(
    `signature alone / verifyReceipt, ${name}`,
    bare.map((one, round) => one / (receipt[round] ?? Number.NaN)),
    // No bar with a native library: it checks the signature ten times as fast, while the work around it takes the same
    // time.
    name.endsWith('portable') ? { atLeast: 0.8 } : null,
    { atLeast: 0.85 },
  ),
);
console.log(`\n${printFigures(figures)}`);
sodium.close();
if (figures.some(({ verdict }) => verdict === 'BAR MISSED')) process.exitCode = 1;
