/** Tests the settings of pnpm-workspace.yaml with a registry of the test: what they refuse is not installed. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { forgetReviewedBuilds, installChoices } from '../../install-choices.mjs';
import { pinnedPnpm } from '../../pinned-pnpm.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const pinned = pinnedPnpm(ROOT);
const {
  packages: _,
  overrides: __,
  ...settings
} = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));

const work = mkdtempSync(join(tmpdir(), 'svc-refused-'));
const DAY_MS = 86_400_000;

interface Offered {
  readonly tarball: Buffer;
  readonly publishedAt: Date;
  readonly manifest: object;
}
const offered = new Map<string, Offered>();

const offer = (name: string, ageDays: number, scripts: Record<string, string> = {}): void => {
  const folder = join(work, 'sources', name);
  mkdirSync(folder, { recursive: true });
  const manifest = { name, version: '1.0.0', scripts };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const { stdout } = spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8' });
  const tarball = readFileSync(join(folder, stdout.trim()));
  offered.set(name, { tarball, manifest, publishedAt: new Date(Date.now() - ageDays * DAY_MS) });
};

const registry = createServer((request, response) => {
  const origin = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const name = request.url?.split('/')[1] ?? '';
  const found = offered.get(name);
  if (found === undefined) return response.writeHead(404).end('{}');
  if (request.url?.endsWith('.tgz')) return response.end(found.tarball);
  const integrity = `sha512-${createHash('sha512').update(found.tarball).digest('base64')}`;
  const dist = { tarball: `${origin}/${name}/-/${name}-1.0.0.tgz`, integrity };
  const at = found.publishedAt.toISOString();
  response.setHeader('content-type', 'application/json');
  return response.end(
    JSON.stringify({
      name,
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { ...found.manifest, dist, hasInstallScript: true } },
      time: { created: at, modified: at, '1.0.0': at },
    }),
  );
});

beforeAll(async () => {
  if (!pinned.isThere()) {
    const [program, parameters] = pinned.prepare();
    spawnSync(program, parameters, { stdio: 'ignore' });
  }
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
}, 120_000);
afterAll(() => {
  registry.closeAllConnections();
  registry.close();
  rmSync(work, { recursive: true, force: true });
});

/** Installs a package into a new project, with our settings and `others`; or into the earlier project `again`. */
const install = async (name: string, others: object = {}, again: string | null = null) => {
  const folder = again ?? mkdtempSync(join(work, 'project-'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'project', dependencies: { [name]: '1.0.0' } }),
  );
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), stringify({ ...settings, ...others }));
  writeFileSync(
    join(folder, '.npmrc'),
    `registry=http://127.0.0.1:${(registry.address() as AddressInfo).port}/\n`,
  );
  const places = ['--store-dir', join(work, 'store'), `--config.cacheDir=${join(work, 'cache')}`];
  const choices = installChoices.map((one) => one.replace('--frozen-lockfile', '--no-frozen-lockfile'));
  forgetReviewedBuilds(folder);
  const child = spawn(process.execPath, [pinned.program, 'install', ...choices, ...places], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: work, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
  const [code] = (await once(child, 'close')) as [number];
  return { folder, code, output, hasRun: existsSync(join(folder, 'node_modules', name, 'has-run')) };
};

const SCRIPT = { postinstall: "node -e \"require('fs').writeFileSync('has-run', '')\"" };

it('the settings of pnpm allow a version of last month without scripts', async () => {
  offer('settled', 30);
  expect(await install('settled')).toMatchObject({ code: 0 });
});

it('the settings of pnpm refuse a version of yesterday', async () => {
  offer('young', 1);
  const { code, output } = await install('young');
  expect([code, output]).toEqual([1, expect.stringContaining('ERR_PNPM_NO_MATURE_MATCHING_VERSION')]);
  // Without the setting it is installed, so the setting is what refuses it.
  expect(await install('young', { minimumReleaseAge: 0 })).toMatchObject({ code: 0 });
});

it('the settings of pnpm refuse an unreviewed install script: it does not run, and the installation fails', async () => {
  offer('scripted', 30, SCRIPT);
  const { code, output, hasRun } = await install('scripted');
  expect([code, output, hasRun]).toEqual([1, expect.stringContaining('ERR_PNPM_IGNORED_BUILDS'), false]);
  const allowed = await install('scripted', { onlyBuiltDependencies: ['scripted'] });
  expect([allowed.code, allowed.hasRun]).toEqual([0, true]);
});

it('the settings of pnpm refuse this script again the next time, until it is reviewed as not needed', async () => {
  offer('unneeded', 30, SCRIPT);
  const { code, folder } = await install('unneeded');
  const second = await install('unneeded', {}, folder);
  expect([code, second.code]).toEqual([1, 1]);
  const reviewed = await install('unneeded', { ignoredBuiltDependencies: ['unneeded'] }, folder);
  expect([reviewed.code, reviewed.hasRun]).toEqual([0, false]);
});
