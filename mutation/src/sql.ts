/**
 * Runs the mutants of the commit in SQL one after another: puts each into the migrations of this tree, runs the suites
 * that must detect it on a fresh database, and restores the original. Run in a copy: `sql.ts [WORD IN THE NAME OR THE
 * FILE]`. Writes reports/sql.json.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Counts } from './outcome.ts';
import { SQL_MUTANTS, type SqlMutant } from './sql-mutants.ts';
import { readAccepted } from './survivors.ts';

type Verdict = 'killed' | 'LIVED' | 'BROKEN';

const root = fileURLToPath(new URL('../..', import.meta.url));
const storage = 'packages/store-pg/src';
const migrations = `${root}${storage}/migrations/`;
const FUNCTION = /create (?:or replace )?function (\w+)\(/g;
const vitest = `${root}node_modules/vitest/vitest.mjs`;

const [word = ''] = process.argv.slice(2);
const accepted = readAccepted();
const chosen = SQL_MUTANTS.filter(({ name, file }) => name.includes(word) || file.includes(word));
const found = chosen.map((mutant, i) => ({
  mutant,
  verdict: verdictOn(mutant, `${i + 1} of ${chosen.length}`),
  isAccepted: accepted.some(({ file, line }) => file === mutant.file && line === mutant.name),
}));
const counts: Counts = {
  mutants: chosen.length,
  killed: found.filter(({ verdict }) => verdict === 'killed').length,
  timedOut: 0,
  accepted: found.filter(({ verdict, isAccepted }) => verdict === 'LIVED' && isAccepted).length,
  problems: found
    .filter(({ verdict, isAccepted }) => verdict !== (isAccepted ? 'LIVED' : 'killed'))
    .map(({ mutant, verdict }) => `${verdict}: ${mutant.name}\n    ${mutant.file}`),
};
mkdirSync(`${root}reports`, { recursive: true });
writeFileSync(`${root}reports/sql.json`, JSON.stringify(counts));

function verdictOn({ name, file, text, replacement, suites }: SqlMutant, place: string): Verdict {
  const path = `${migrations}${file}`;
  const original = readFileSync(path, 'utf8');
  if (original.split(text).length !== 2) throw new Error(`${name}: not exactly once in ${file}: ${text}`);
  const last = lastDefinitionOf(functionAround(original, text));
  if (last !== file) throw new Error(`${name}: its function is at work as ${last} defines it, not ${file}`);
  const startedMs = Date.now();
  try {
    writeFileSync(
      path,
      original.replace(text, () => replacement),
    );
    const files = suites.map((suite) => `${storage}/${suite}.test.ts`);
    const run = spawnSync(process.execPath, [vitest, 'run', '--project', 'store-pg', '--bail=1', ...files], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });
    const verdict = verdictOf(run.status, run.stdout);
    console.log(`${place}: ${verdict}  ${name} (${Math.round((Date.now() - startedMs) / 1000)} s)`);
    return verdict;
  } finally {
    writeFileSync(path, original);
  }
}

/** The function that contains `text`. */
function functionAround(sql: string, text: string): string {
  return [...sql.slice(0, sql.indexOf(text)).matchAll(FUNCTION)].at(-1)?.[1] ?? '';
}

/** The file with the function's last definition: a change in an earlier definition has no effect. */
function lastDefinitionOf(name: string): string | undefined {
  return readdirSync(migrations, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .filter((file) =>
      [...readFileSync(`${migrations}${file}`, 'utf8').matchAll(FUNCTION)].some((found) => found[1] === name),
    )
    .at(-1);
}

/** A mutant counts as killed only if a test ran: SQL that cannot be migrated proves nothing. */
function verdictOf(status: number | null, output: string): Verdict {
  if (status === 0) return 'LIVED';
  return /Tests\s.*\d+ failed/.test(output) ? 'killed' : 'BROKEN';
}
