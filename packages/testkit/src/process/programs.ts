// The programs of vitest's global setup, for the projects whose tests start ours. It bundles them from the present
// sources, so that no test runs a stale build. `npm test` has just built them, and says so (SVC_PROGRAMS_BUILT).
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import type {} from './program-file.ts';

const ROOT = new URL('../../../../', import.meta.url);
const BUILD_DEADLINE_MS = 120_000;

/** By project, the packages whose programs its tests start. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  api: ['apps/api', 'apps/admin', 'packages/cli'],
  'api-alone': ['apps/api', 'apps/admin'],
  svc: ['apps/admin', 'apps/api', 'apps/conformance-runner', 'apps/worker', 'packages/cli'],
  cli: ['packages/cli'],
  worker: ['apps/admin', 'apps/api', 'apps/worker'],
  'conformance-runner': ['apps/conformance-runner'],
};

export default async function setup(project: TestProject): Promise<() => void> {
  const homes = NEEDED[project.name] ?? [];
  const isBuilt = process.env.SVC_PROGRAMS_BUILT === '1';
  if (!isBuilt) await bundledOnce(homes);
  const folder = isBuilt ? 'dist' : FOLDER;
  const programs = Object.fromEntries(
    homes.map((home) => [home, fileURLToPath(new URL(`${home}/${folder}`, ROOT))]),
  );
  project.provide('programs', programs);
  if (isBuilt) return () => {};
  project.onTestsRerun(() => bundle(homes));
  return () => {
    for (const folder of Object.values(programs)) rmSync(folder, { recursive: true, force: true });
  };
}

/** Inside the package, so that the program finds its dependencies. */
const FOLDER = `node_modules/.cache/programs/${process.pid}`;

/** Each project loads its own copy of this module, so shared state is a property of the global object. */
const bundledOnce = async (homes: readonly string[]): Promise<void> => {
  const key = Symbol.for('svc.test-programs');
  const process = globalThis as { [key: symbol]: Map<string, Promise<void>> | undefined };
  const bundled = process[key] ?? new Map<string, Promise<void>>();
  process[key] = bundled;
  const missing = homes.filter((home) => !bundled.has(home));
  const bundling = bundle(missing);
  for (const home of missing) bundled.set(home, bundling);
  await Promise.all(homes.map((home) => bundled.get(home)));
};

const bundle = async (homes: readonly string[]): Promise<void> => {
  if (homes.length === 0) return;
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/bundle/main.ts', ...homes], {
    env: { ...process.env, SVC_PROGRAMS_DIR: FOLDER },
    cwd: fileURLToPath(ROOT),
    timeout: BUILD_DEADLINE_MS,
  });
};
