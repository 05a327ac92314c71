/**
 * `npm run bench -- walk [-- --pictures FOLDER]`: what a shop's developer, an auditor and an operator do in their first hour, by the READMEs
 * alone, from a clone of what is committed and from folders with nothing else in them, with empty caches of npm and pnpm; timed. `--pictures`: every page
 * as it is then, on a desk and on a phone, light and dark. Needs git, Debian's chromium and PostgreSQL 15 or later, and the package registry.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Cleanup } from '../harness/cleanup.ts';
import { argumentsOf } from '../harness/command-line.ts';
import { findFreePort } from '../harness/program.ts';
import { describeMachine, table, transpose } from '../harness/report.ts';
import { walkAsAuditor } from './auditor.ts';
import { walkAsDeveloper } from './developer.ts';
import { walkAsOperator } from './operator.ts';
import { takePictures } from './pictures.ts';
import { Steps } from './steps.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A home without caches; how the registry is reached is that of this machine. */
const emptyEnvironment = (home: string) => ({
  ...{ PATH: process.env.PATH ?? '', HOME: home, CI: '1', NO_COLOR: '1' },
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
  npm_config_update_notifier: 'false',
});

const walk = async (cleanup: Cleanup): Promise<void> => {
  const { values } = parseArgs({ args: argumentsOf('walk'), options: { pictures: { type: 'string' } } });
  const folder = mkdtempSync(join(tmpdir(), 'svc-walk-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const [home, clone] = [join(folder, 'home'), join(folder, 'svc')];
  mkdirSync(home);
  const ports = await Promise.all(Array.from({ length: 6 }, findFreePort));
  const steps = new Steps(emptyEnvironment(home), cleanup);
  steps.run(`git clone --quiet --depth 1 'file://${ROOT}' svc`, folder);
  const [before = 0] = loadavg();
  const place = { folder, clone, packages: join(clone, '.data', 'packages'), ports };
  const world = await walkAsDeveloper(steps, place);
  await walkAsAuditor(steps, place, world);
  if (values.pictures !== undefined) await takePictures(world.baseUrl, values.pictures);
  await world.service.stop();
  await walkAsOperator(steps, place);
  const rows = steps.taken.map(({ path, what, seconds }) => [path, what, seconds.toFixed(1)]);
  console.log(
    `${describeMachine()}; load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after\n`,
  );
  console.log(table(transpose([['path', 'step', 's'], ...rows]), [0, 1]).join('\n'));
};

const cleanup = new Cleanup();
try {
  await walk(cleanup);
} finally {
  await cleanup.run();
}
