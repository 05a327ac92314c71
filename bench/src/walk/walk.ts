/**
 * `npm run bench -- walk [-- --pictures FOLDER] [-- --path production]`: the first hour of a shop's developer, an
 * auditor and an operator, by the READMEs alone, timed. It works in a clone of what is committed and in empty folders,
 * with empty caches of npm and pnpm. `--pictures` stores every page as it is then, on a desktop and on a phone, light
 * and dark. `--path production` runs only deploy/README.md "By hand" instead, block by block. Needs git, Debian's
 * chromium and PostgreSQL 15 or later, and the package registry.
 */
import { mkdirSync } from 'node:fs';
import { homedir, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { path, readOptions, some } from '../harness/command-line.ts';
import type { Place } from '../harness/contestants.ts';
import { describeMachine, table, transpose } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { walkAsAuditor } from './auditor.ts';
import { walkAsDeveloper } from './developer.ts';
import { walkAsOperator } from './operator.ts';
import { takePictures } from './pictures.ts';
import { walkToProduction } from './production.ts';
import { Steps } from './steps.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A home without caches. The access to the registry is that of this machine. */
const emptyEnvironment = (home: string) => ({
  ...{ PATH: process.env.PATH ?? '', HOME: home, CI: '1', NO_COLOR: '1' },
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
  npm_config_update_notifier: 'false',
});

const options = readOptions('walk', {
  command: 'npm run bench -- walk [options]',
  options: {
    pictures: path('of every page, on a desk and on a phone, light and dark', 'FOLDER'),
    path: some(['production'], 'production: deploy/README.md "By hand" in place of all others', []),
  },
});

const walk = async ({ folder, cleanup }: Place): Promise<void> => {
  const [home, clone] = [join(folder, 'home'), join(folder, 'svc')];
  mkdirSync(home);
  const ports = await Promise.all(Array.from({ length: 6 }, findFreePort));
  const steps = new Steps(emptyEnvironment(home), cleanup);
  const [before = 0] = loadavg();
  const fetchClone = () => steps.run(`git clone --quiet --depth 1 'file://${ROOT}' svc`, folder);
  const place = { folder, clone, packages: join(clone, '.data', 'packages'), ports };
  if (options.path.includes('production')) {
    await steps.time('production', 'git clone', fetchClone);
    await walkToProduction(steps, place);
  } else {
    fetchClone();
    const world = await walkAsDeveloper(steps, place);
    await walkAsAuditor(steps, place, world);
    if (options.pictures !== null) await takePictures(world.baseUrl, options.pictures);
    await world.service.stop();
    await walkAsOperator(steps, place);
  }
  const rows = steps.taken.map(({ path, what, seconds }) => [path, what, seconds.toFixed(1)]);
  console.log(
    `${describeMachine()}; load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after\n`,
  );
  console.log(table(transpose([['path', 'step', 's'], ...rows]), [0, 1]).join('\n'));
};

await runBenchmark(({ place }) => walk(place));
