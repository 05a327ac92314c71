// vitest's global setup of every project whose tests start our programs: bundles them from the sources as they are now,
// so that a test never meets a stale build.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import type {} from './program-file.ts';

const ROOT = new URL('../../../../', import.meta.url);
const TSUP = fileURLToPath(new URL('node_modules/tsup/dist/cli-default.js', ROOT));
const BUILD_DEADLINE_MS = 120_000;

/** By project: the packages whose programs its tests start. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  api: ['apps/api', 'apps/admin', 'packages/cli'],
  'api-alone': ['apps/api', 'apps/admin'],
  svc: ['apps/admin', 'apps/conformance-runner', 'apps/worker', 'packages/cli'],
  cli: ['packages/cli'],
  worker: ['apps/admin', 'apps/worker'],
  'conformance-runner': ['apps/conformance-runner'],
};

export default async function setup(project: TestProject): Promise<() => void> {
  const homes = NEEDED[project.name] ?? [];
  const programs = Object.fromEntries(homes.map((home) => [home, folderIn(home)]));
  const build = async () => {
    await Promise.all(homes.map((home) => bundle(home, programs[home] ?? '')));
  };
  await Promise.all(homes.map((home) => bundledOnce(home, programs[home] ?? '')));
  project.provide('programs', programs);
  project.onTestsRerun(build);
  return () => {
    for (const folder of Object.values(programs)) rmSync(folder, { recursive: true, force: true });
  };
}

/** Each project loads this module for itself, so what they share hangs on the process. */
const bundledOnce = (home: string, folder: string): Promise<unknown> => {
  const key = Symbol.for('svc.test-programs');
  const process = globalThis as { [key: symbol]: Map<string, Promise<unknown>> | undefined };
  const bundled = process[key] ?? new Map<string, Promise<unknown>>();
  process[key] = bundled;
  const one = bundled.get(home) ?? bundle(home, folder);
  bundled.set(home, one);
  return one;
};

/** Inside the package, whose dependencies the program finds from there. */
const folderIn = (home: string): string =>
  join(fileURLToPath(new URL(home, ROOT)), 'node_modules', '.cache', 'programs', String(process.pid));

const bundle = (home: string, folder: string): Promise<unknown> =>
  promisify(execFile)(process.execPath, [TSUP, '--silent'], {
    env: { ...process.env, SVC_PROGRAMS_DIR: folder },
    cwd: fileURLToPath(new URL(home, ROOT)),
    timeout: BUILD_DEADLINE_MS,
  });
