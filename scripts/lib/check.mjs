// What every change must satisfy.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, docsApi, types } from './build.mjs';
import { install } from './install.mjs';
import { pnpm, reportFailure, root, run, StepFailure, step, tool } from './spawn.mjs';
import { test } from './test.mjs';

const roots = ['packages', 'apps', 'bench', 'examples', 'kits', 'mutation', 'scripts', 'vectors'];

/**
 * Checks everything that a change must satisfy; `--without-tests` if the tests have run already. Continues after a
 * failure, to report all failures.
 */
export async function check(parameters) {
  await install();
  const failed = [];
  const attempt = async (name, job) => {
    if ((await job().catch(reportFailure)) !== 0) failed.push(name);
  };
  await attempt('lint', () => step('linting', ...tool('biome', 'check', '.')));
  await attempt('SQL layout', () =>
    step('checking the layout of SQL', ...pnpm('run', 'format:sql', '--check')),
  );
  await attempt('build', () => build());
  await attempt('types', types);
  await attempt('imports', () =>
    step(
      'checking imports',
      ...tool('depcruise', '--config', '.dependency-cruiser.mjs', '--output-type', 'err', ...roots),
    ),
  );
  await attempt('generated files', checkGenerated);
  await attempt('unused code', () => step('looking for unused code', ...tool('knip')));
  await attempt('API reference', () => step('writing the API reference', ...docsApi()));
  await attempt('size', () => step('measuring sizes', ...tool('size-limit')));
  if (!parameters.includes('--without-tests'))
    await attempt('tests', () => test([], failed.includes('build') ? { SVC_PROGRAMS_BUILT: '' } : {}));
  console.log(failed.length === 0 ? 'everything holds' : `does not hold: ${failed.join(', ')}`);
  return Math.min(failed.length, 1);
}

/** Runs every generator (a package's `generate` script) and compares all files that git tracks or would add. */
async function checkGenerated() {
  const before = await fileHashes();
  await step('generating files', ...pnpm('--recursive', '--if-present', 'run', 'generate'));
  const after = await fileHashes();
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const changed = names.filter((name) => before.get(name) !== after.get(name));
  if (changed.length > 0) console.log(`generated files were out of date:\n  ${changed.join('\n  ')}`);
  return Math.min(changed.length, 1);
}

async function fileHashes() {
  const { output, code } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  if (code !== 0) throw new StepFailure('listing files with git', code, output);
  const isFile = (name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile() === true;
  const hashOf = (name) =>
    createHash('sha256')
      .update(readFileSync(join(root, name)))
      .digest('hex');
  return new Map(
    output
      .split('\0')
      .filter(isFile)
      .map((name) => [name, hashOf(name)]),
  );
}
