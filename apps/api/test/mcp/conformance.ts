/**
 * `npm run mcp:conformance`: runs the public conformance suite of MCP against one server with and without the guard,
 * where no tool is guarded. It tests what the revision of MCP that the SDK speaks requires of a server, frozen at that
 * revision's release. Ends with 0 where both have the same result, check by check, and every required check passes. npx
 * fetches the suite, with the Node that it needs. `-- --record` writes the output to `conformance-scores.txt`, which
 * docs/mcp.md shows.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';

/** Later versions, up to the one tagged `latest`, have no --requirements. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const REQUIREMENTS = LATEST_PROTOCOL_VERSION;
/** The suite needs Node 22 or later, which this project does not. */
const NODE = 'node@22.21.1';
const START_DEADLINE_MS = 30_000;
const SUITE_DEADLINE_MS = 300_000;

interface Check {
  readonly id: string;
  readonly status: string;
}
type Scores = ReadonlyMap<string, readonly Check[]>;
interface Run {
  readonly scores: Scores;
  /** Scenarios that the suite runs beside the requirements and does not score, each with its reason. */
  readonly unscored: ReadonlyMap<string, string>;
}

const SERVER = fileURLToPath(new URL('conformance-server.ts', import.meta.url));
const RECORD = new URL('conformance-scores.txt', import.meta.url);
const PROGRAM = ['--conditions=svc-source', '--import', import.meta.resolve('tsx'), SERVER];

const score = async (isGuarded: boolean): Promise<Run> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mcp-conformance-'));
  const { MCP_GUARD: _, ...rest } = process.env;
  const env = isGuarded ? { ...rest, MCP_GUARD: '1' } : rest;
  const server = spawn(process.execPath, PROGRAM, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const signal = AbortSignal.timeout(START_DEADLINE_MS);
    const [port] = await once(createInterface({ input: server.stdout }), 'line', { signal });
    const url = `http://127.0.0.1:${port}/mcp`;
    const command = ['conformance', 'server', '--url', url, '-o', folder, '--requirements', REQUIREMENTS];
    const { error, stdout, stderr } = spawnSync('npx', ['-y', '-p', NODE, '-p', SUITE, '--', ...command], {
      // npm itself runs on another version than the suite.
      env: { ...process.env, npm_config_engine_strict: 'false' },
      encoding: 'utf8',
      timeout: SUITE_DEADLINE_MS,
    });
    // The suite's exit code is not used: it only says whether all scenarios passed.
    const scores = readScores(folder);
    if (error !== undefined || scores.size === 0)
      throw new Error(`the suite did not run: ${error?.message ?? stderr}`);
    return { scores, unscored: readUnscored(stdout) };
  } finally {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Scores by scenario; a folder is named `server-<scenario>-<time>`. */
const readScores = (folder: string): Scores =>
  new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [
        name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
        JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[],
      ]),
  );

/** Parsed from the end of the output: `Not scored for …`, and a line for each scenario. */
const readUnscored = (printed: string): ReadonlyMap<string, string> => {
  const [, list = ''] = printed.split(`Not scored for ${REQUIREMENTS}:`);
  return new Map(
    [...list.matchAll(/^ +\S+ (\S+) \((.+)\)$/gm)].map(([, name = '', why = '']) => [name, why]),
  );
};

const count = (checks: readonly Check[], status: string): number =>
  checks.filter((check) => check.status === status).length;

const show = (checks: readonly Check[] = []): string =>
  `${count(checks, 'SUCCESS')} passed, ${count(checks, 'FAILURE')} failed`;

const said = (checks: readonly Check[] = []): string =>
  JSON.stringify(checks.map(({ id, status }) => [id, status]).sort());

const without = await score(false);
const guarded = await score(true);
const scenarios = [...new Set([...without.scores.keys(), ...guarded.scores.keys()])];
const rows: string[] = [];
const row = (name: string, one: string, other: string, mark = ''): void => {
  rows.push(`${name.padEnd(34)}${one.padEnd(22)}${other.padEnd(22)}${mark}`.trimEnd());
  console.log(rows.at(-1));
};
const different = scenarios.filter(
  (name) => said(without.scores.get(name)) !== said(guarded.scores.get(name)),
);
const showScenario = (name: string, why = ''): void =>
  row(
    name,
    show(without.scores.get(name)),
    show(guarded.scores.get(name)),
    different.includes(name) ? 'differs' : why,
  );
const required = scenarios.filter((name) => !without.unscored.has(name));
const all = ({ scores }: Run): Check[] => required.flatMap((name) => scores.get(name) ?? []);
row(SUITE.split('/')[1] ?? '', 'without', 'with the guard');
for (const name of required) showScenario(name);
row(`required of a server by ${REQUIREMENTS}`, '', '');
row(`  ${required.length} scenarios`, show(all(without)), show(all(guarded)));
row('run, and never scored', '', '');
for (const [name, why] of without.unscored) showScenario(name, why);
if (process.argv.includes('--record')) writeFileSync(RECORD, `${rows.join('\n')}\n`);
if (different.length > 0) console.error(`the guard changes ${different.join(', ')}`);
const failed = count([...all(without), ...all(guarded)], 'FAILURE');
if (failed > 0) console.error(`${failed} checks of what is required fail`);
if (different.length + failed > 0) process.exitCode = 1;
