/**
 * `npm run bench -- peers`: one decision by this engine and by other libraries, in one process and one run, and over
 * HTTP. Ends with 1 when a bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorld } from '../fixtures/world.ts';
import { startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { figureOf } from '../harness/ratios.ts';
import { describeLoad, describeMachine, printFigures, table, transpose } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { median } from '../load/percentile.ts';
import { biscuitPeer } from './biscuit.ts';
import { type HttpSide, ourSide, ucantoSide } from './http.ts';
import { joseDpopPeer } from './jose-dpop.ts';
import { measurePeers } from './measure.ts';
import { readPeersOptions } from './options.ts';
import { ourPeers } from './ours.ts';
import { sdJwtPeer } from './sd-jwt.ts';
import { ucantoPeer } from './ucanto.ts';
import { zcapPeer } from './zcap.ts';

const AGENTS = 64;
/** The compared packages. package.json pins their versions. */
const PACKAGES = [
  ...['@sd-jwt/core', '@biscuit-auth/biscuit-wasm', 'jose', '@digitalbazaar/http-signature-zcap-verify'],
  ...['@ucanto/validator', '@ucanto/server'],
] as const;

const versionsOf = (): string => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return PACKAGES.map((name) => `${name} ${manifest.dependencies[name]}`).join(', ');
};

/** The ratio of each round: the cost of the cheapest other library against that of our decision with its Receipt. */
function figuresOfPeers(costs: ReadonlyMap<{ readonly name: string }, readonly number[]>) {
  const [ours = [], , ...others] = [...costs.values()];
  const best = ours.map((_, round) => Math.min(...others.map((values) => values[round] ?? Number.NaN)));
  const ratio = best.map((value, round) => value / (ours[round] ?? Number.NaN));
  return figureOf('decision + Receipt against the best other', ratio, { atLeast: 1 }, { atLeast: 1.3 });
}

async function measureHttp(sides: readonly HttpSide[], rounds: number, seconds: number): Promise<number[][]> {
  const speeds: number[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round++)
    for (const [i, side] of sides.entries()) {
      const speed = await side.load(seconds);
      // The first round warms up.
      if (round > 0) speeds[i]?.push(speed);
    }
  return speeds;
}

const number = (value: number) => Math.round(value).toLocaleString('en');

const options = readPeersOptions();
/** The flag that biscuit-wasm needs, since it imports its binary as a module. */
const WASM = '--experimental-wasm-modules';
if (!process.execArgv.includes(WASM)) {
  const command = [WASM, '--no-warnings', ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1);
}

await runBenchmark(async ({ place }) => {
  const { folder, cleanup } = place;
  console.log(`${describeMachine()}, ${describeLoad()}\n${versionsOf()}`);
  const database = await startDatabase(join(folder, 'database'), cleanup);
  const node = await startApiNode(place, { name: 'peers', api: options.api, databaseUrl: database.url });
  const world = await makeWorld(node, AGENTS);
  const others = [await sdJwtPeer(), await biscuitPeer(), await joseDpopPeer(), await zcapPeer()];
  const peers = [...(await ourPeers(world)), ...others, await ucantoPeer()];
  const costs = await measurePeers(peers, options.rounds, options.turn);
  const rows = peers.map((peer) => {
    const us = median(costs.get(peer) ?? []);
    return [peer.name, number(1e6 / us), us.toFixed(0), String(peer.signatures), peer.without];
  });
  const head = ['in this process', 'decisions/s of a core', 'CPU µs', 'signatures checked', 'without'];
  console.log(`\n${table(transpose([head, ...rows]), [0, 4]).join('\n')}`);
  console.log('A Grantex token with its proof is missing: its package is not on the registry.');
  const figures = [figuresOfPeers(costs)];

  if (options.seconds > 0) {
    const sides = [ourSide(node.url, world), await ucantoSide(place)];
    const speeds = await measureHttp(sides, Math.min(options.rounds, 5), options.seconds);
    const lines = sides.map(({ name, without }, i) => [name, number(median(speeds[i] ?? [])), without]);
    const title = ['over HTTP, 64 connections', 'decisions/s', 'without'];
    console.log(`\n${table(transpose([title, ...lines]), [0, 2]).join('\n')}`);
    const [ours = [], theirs = []] = speeds;
    const ratios = ours.map((speed, round) => speed / (theirs[round] ?? Number.NaN));
    figures.push(
      figureOf('decisions/s over HTTP against @ucanto/server', ratios, { atLeast: 1 }, { atLeast: 10 }),
    );
  }
  console.log(`\n${printFigures(figures)}`);
  if (figures.some(({ verdict }) => verdict === 'BAR MISSED')) process.exitCode = 1;
});
