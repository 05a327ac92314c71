/**
 * The mutants of the commit in SQL, one after another: each is put into the migrations of this tree, the suites that must
 * notice run on a fresh database, and the original is put back. Run in a copy: `sql.ts [WORD IN THE NAME OR THE FILE]`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SQL_MUTANTS, type SqlMutant } from './sql-mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const storage = 'packages/store-pg/src';
const vitest = `${root}node_modules/vitest/vitest.mjs`;

const [word = ''] = process.argv.slice(2);
const chosen = SQL_MUTANTS.filter(({ name, file }) => name.includes(word) || file.includes(word));
const lived = chosen.filter((mutant) => !isKilled(mutant));
console.log(`sql: ${chosen.length - lived.length} of ${chosen.length} killed`);
process.exitCode = lived.length > 0 ? 1 : 0;

function isKilled({ name, file, text, replacement, suites }: SqlMutant): boolean {
  const path = `${root}${storage}/migrations/${file}`;
  const original = readFileSync(path, 'utf8');
  if (original.split(text).length !== 2) throw new Error(`${name}: not exactly once in ${file}: ${text}`);
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
    console.log(`${verdict}  ${name} (${Math.round((Date.now() - startedMs) / 1000)} s)`);
    return verdict === 'killed';
  } finally {
    writeFileSync(path, original);
  }
}

/** Killed only by a test that ran: SQL that cannot be migrated proves nothing. */
function verdictOf(status: number | null, output: string): 'killed' | 'LIVED' | 'BROKEN' {
  if (status === 0) return 'LIVED';
  return /Tests\s.*\d+ failed/.test(output) ? 'killed' : 'BROKEN';
}
