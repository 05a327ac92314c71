/** Every command of this project runs the pnpm whose hash is in the tree, wherever it comes from. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { pinnedPnpm } from '../pinned-pnpm.mjs';

const VERSION = '10.34.9';
const work = mkdtempSync(join(tmpdir(), 'svc-pinned-pnpm-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
const isWindows = process.platform === 'win32';

const write = (path: string, content: unknown) =>
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));

/** A package as npm packs it, with a program that prints this text. */
const pack = (says: string): Buffer => {
  const folder = mkdtempSync(join(work, 'package-'));
  mkdirSync(join(folder, 'bin'));
  write(join(folder, 'bin', 'pnpm.cjs'), `console.log(${JSON.stringify(says)})`);
  write(join(folder, 'package.json'), { name: 'pnpm', version: VERSION, bin: { pnpm: 'bin/pnpm.cjs' } });
  const packed = spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8', shell: isWindows });
  return readFileSync(join(folder, packed.stdout.trim()));
};
const integrityOf = (tarball: Buffer) => `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

const genuine = pack('genuine');

/** A mirror that serves this package and claims that it is the right one. */
const startMirror = async (tarball: Buffer): Promise<string> => {
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const dist = { tarball: `${origin}/pnpm/-/pnpm-${VERSION}.tgz`, integrity: integrityOf(tarball) };
    response.setHeader('content-type', 'application/json');
    const versions = { [VERSION]: { name: 'pnpm', version: VERSION, dist } };
    return response.end(JSON.stringify({ name: 'pnpm', 'dist-tags': { latest: VERSION }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** Fetches in a project whose pin is the hash of `genuine`, on a machine that has fetched nothing yet. */
const fetchFrom = async (tarball: Buffer) => {
  const root = mkdtempSync(join(work, 'project-'));
  const lock = join(root, 'lock');
  mkdirSync(lock);
  const own = new URL('../pnpm/', import.meta.url);
  write(join(lock, 'package.json'), readFileSync(new URL('package.json', own), 'utf8'));
  const pin = JSON.parse(readFileSync(new URL('package-lock.json', own), 'utf8'));
  pin.packages['node_modules/pnpm'].integrity = integrityOf(genuine);
  write(join(lock, 'package-lock.json'), pin);
  const pinned = pinnedPnpm(root, lock);
  const [program, parameters] = pinned.prepare();
  const env = {
    ...process.env,
    ...{ npm_config_registry: await startMirror(tarball), npm_config_cache: join(root, 'cache') },
  };
  const child = spawn(program, parameters, { env, shell: isWindows });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  return { pinned, code: Number(code), output };
};

it('the pinned pnpm is fetched from the registry that npm is configured with, and runs from the project folder', async () => {
  const { pinned, code, output } = await fetchFrom(genuine);
  expect([code, pinned.isThere()], output).toEqual([0, true]);
  const { stdout } = spawnSync(process.execPath, [pinned.program], { encoding: 'utf8' });
  expect(stdout).toBe('genuine\n');
});

it('a pnpm with another hash is not unpacked, even if the registry states this hash', async () => {
  const { pinned, code, output } = await fetchFrom(pack('forged'));
  expect(code).not.toBe(0);
  expect(output).toContain('EINTEGRITY');
  expect(pinned.isThere()).toBe(false);
});

it('the pinned pnpm is the version that package.json names', () => {
  const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
  expect(read('package.json').packageManager).toBe(`pnpm@${VERSION}`);
  expect(read('scripts/pnpm/package.json').dependencies).toEqual({ pnpm: VERSION });
  const { version, integrity } = read('scripts/pnpm/package-lock.json').packages['node_modules/pnpm'];
  expect([version, integrity]).toEqual([VERSION, expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/)]);
});
