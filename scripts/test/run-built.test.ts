/** Commands that run from a build, in a clone that is not built. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../run-built.mjs', import.meta.url));
const run = (...parameters: string[]) =>
  spawnSync(process.execPath, [SCRIPT, ...parameters], { encoding: 'utf8' });

it('run-built exits with 2 for a command that is not built, and says how to build it', () => {
  const { status, stderr } = run('apps/none/dist/main.js', 'fsck');
  expect([status, stderr]).toEqual([2, 'apps/none/dist/main.js is not built yet: npm run build\n']);
});

it('run-built passes its parameters to a command that is built', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-built-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'main.mjs');
  writeFileSync(file, 'console.log(JSON.stringify(process.argv.slice(2)))');
  expect(JSON.parse(run(file, 'fsck', '--json').stdout)).toEqual(['fsck', '--json']);
});
