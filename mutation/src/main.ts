/**
 * `npm run mutate [-- GROUP… --workers N]`: mutants of the engine, and whether the suites notice. In a copy of the tree,
 * since the mutants are put into the files themselves, so that every package that imports them sees them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GROUPS } from './groups.ts';
import { compare, type Report, readAccepted, type Survivor, tallyOf } from './survivors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { workers: { type: 'string', default: '2' } },
});
const groups = positionals.length > 0 ? positionals : [...Object.keys(GROUPS), 'sql'];

const copy = mkdtempSync(join(tmpdir(), 'svc-mutation-'));
try {
  copyTree();
  const failed = groups.filter((group) => !(group === 'sql' ? mutateSql() : mutate(group)));
  console.log(failed.length === 0 ? 'every mutant is killed or accepted' : `look at: ${failed.join(', ')}`);
  process.exitCode = Math.min(failed.length, 1);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** All files that git knows or would take, with dependencies of their own. */
function copyTree(): void {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const file of list.split('\0').filter((one) => one !== ''))
    cpSync(join(root, file), join(copy, file), { recursive: true });
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  run('npx', ['-y', packageManager, 'install', '--frozen-lockfile', '--prefer-offline', '--silent']);
}

const script = (file: string, ...parameters: string[]) =>
  run(process.execPath, [
    '--conditions=svc-source',
    '--import',
    'tsx',
    `mutation/src/${file}`,
    ...parameters,
  ]);

function run(command: string, parameters: readonly string[]): boolean {
  return spawnSync(command, parameters, { cwd: copy, stdio: 'inherit' }).status === 0;
}

const mutateSql = (): boolean => script('sql.ts');

function mutate(group: string): boolean {
  if (!script('stryker.ts', group, values.workers)) return false;
  const report: Report = JSON.parse(readFileSync(join(copy, 'reports', `${group}.json`), 'utf8'));
  const tally = tallyOf(report);
  const { unexpected, stale } = compare(tally, Object.keys(report.files), readAccepted());
  const all = tally.killed + tally.survivors.length;
  const percent = ((100 * tally.killed) / all).toFixed(1);
  console.log(`${group}: ${tally.killed} of ${all} killed (${percent} %)`);
  for (const one of unexpected) console.log(`  lived: ${lineOf(one)}`);
  for (const one of stale) console.log(`  accepted, but did not live: ${lineOf(one)}`);
  return unexpected.length + stale.length === 0;
}

const lineOf = ({ file, line, was, becomes }: Survivor): string =>
  `${file}\n    ${line}\n    ${was}  →  ${becomes}`;
