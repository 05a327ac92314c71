/**
 * The published packages as their users install them: packed once from the build, and installed into empty projects.
 */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { createDatabase, databaseUrl } from '@svc/testkit/database';
import { isDeep } from '@svc/testkit/sampled';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pack } from '../../pack/pack.ts';
import { findContentFaults } from '../../release/contents.ts';
import { listPublished, type Manifest } from '../../release/packages.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The first code block of a section of the README. */
const readmeBlock = (title: string): string => {
  const section = readFileSync(join(root, 'README.md'), 'utf8')
    .split(/^## /m)
    .find((part) => part.startsWith(title));
  return /^```sh\n(.*?)^```$/ms.exec(section ?? '')?.[1] ?? '';
};

interface PackedManifest extends Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
}

const scratch = mkdtempSync(join(tmpdir(), 'svc-packed-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** The sample tests a library and the commands, each alone. A deep run tests all of them together. */
const published = listPublished().filter(
  ({ manifest }) => isDeep || ['@svc/receipts', '@svc/cli'].includes(manifest.name),
);
const names = published.map(({ manifest }) => manifest.name);
/** The package's modules, by the names under which they are imported. */
const entriesOf = (name: string): readonly string[] =>
  Object.keys(readManifest(name).exports)
    .filter((path) => !path.includes('*') && !path.endsWith('.json'))
    .map((path) => join(name, path));
const homeOf = (name: string): string => join(scratch, 'alone', name.replace('/', '-'));
const placeOf = (name: string): string => join(homeOf(name), 'node_modules', name);
const readManifest = (name: string): PackedManifest =>
  JSON.parse(readFileSync(join(placeOf(name), 'package.json'), 'utf8')) as PackedManifest;
const withModules = names.filter(
  (name) => !['@svc/admin', '@svc/vectors', '@svc/cli', '@svc/mcp', 'create-svc-shop'].includes(name),
);

const tarballs = new Map<string, string>();
/** A project with all packages, installed as the README says. */
const consumer = join(scratch, 'consumer');

beforeAll(async () => {
  for (const one of published) {
    const { name } = one.manifest;
    tarballs.set(name, pack(one, scratch));
    mkdirSync(placeOf(name), { recursive: true });
    await run('tar', ['-xzf', tarballs.get(name) ?? '', '--strip-components=1', '-C', placeOf(name)]);
  }
  if (!isDeep) return;
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }');
  // Nothing is fetched, because the packages need no other package.
  const install = readmeBlock('Use it outside this clone')
    .replaceAll('<clone>/.data/packages', scratch)
    .replace(/^npm install /, 'npm install --offline --no-audit --no-fund ');
  await run('sh', ['-c', [install.trim(), ...tarballs.values()].join(' ')], { cwd: consumer });
  const types = join(consumer, 'node_modules', '@types');
  mkdirSync(types, { recursive: true });
  for (const [from, name] of [
    ['packages/sdk-rp', 'express'],
    ['.', 'node'],
  ] as const)
    symlinkSync(join(root, from, 'node_modules', '@types', name), join(types, name));
}, 120_000);

describe.each(names)('the packed package %s', (name) => {
  it('contains exactly the files to publish, and has no dependencies', () => {
    const files = readdirSync(placeOf(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(placeOf(name).length + 1));
    expect(findContentFaults(readManifest(name), files)).toEqual([]);
    expect(readManifest(name).dependencies).toBeUndefined();
  });

  it('passes publint: every path in its manifest leads to a file', async () => {
    const { messages } = await publint({ pkgDir: placeOf(name), pack: false, strict: true });
    const { default: _, ...pkg } = JSON.parse(readFileSync(join(placeOf(name), 'package.json'), 'utf8'));
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });
});

describe.each(withModules)('the types of the packed package %s', (name) => {
  it.runIf(isDeep)(
    'resolve correctly in every module system, CommonJS included',
    async () => {
      const data = createPackageFromTarballData(readFileSync(tarballs.get(name) ?? ''));
      const result = await checkPackage(data);
      expect(result.types).toBeTruthy();
      expect('problems' in result ? result.problems : result).toEqual([]);
    },
    60_000,
  );
});

it('every library can be imported and required where nothing else is installed, with the same exports', async () => {
  const use = async (name: string) => {
    const entries = entriesOf(name);
    const text = (load: (entry: string) => string) =>
      `const all = [${entries.map(load).join(', ')}];
       console.log(JSON.stringify(all.map((one) => Object.keys(one).filter((key) => key !== 'default').sort())));`;
    writeFileSync(
      join(homeOf(name), 'use.mjs'),
      text((entry) => `await import('${entry}')`),
    );
    writeFileSync(
      join(homeOf(name), 'use.cjs'),
      text((entry) => `require('${entry}')`),
    );
    const imported = await run(process.execPath, ['use.mjs'], { cwd: homeOf(name) });
    const required = await run(process.execPath, ['use.cjs'], { cwd: homeOf(name) });
    expect([name, required]).toEqual([name, imported]);
    expect(imported.stderr).toBe('');
    expect((JSON.parse(imported.stdout) as string[][]).flat().length).toBeGreaterThan(0);
  };
  await Promise.all(withModules.map(use));
}, 60_000);

it.each(['svc-receipt', 'svc-conformance'])('%s runs with its package alone', async (command) => {
  const { bin = {} } = readManifest('@svc/cli');
  const file = join(placeOf('@svc/cli'), bin[command] ?? '');
  const { stdout } = await run(process.execPath, [file, '--help']);
  expect(stdout).toContain(command);
});

it.runIf(isDeep)('svc-mcp runs with its package alone', async () => {
  const { bin = {} } = readManifest('@svc/mcp');
  const file = join(placeOf('@svc/mcp'), bin['svc-mcp'] ?? '');
  expect((await run(process.execPath, [file, '--help'])).stdout).toContain('svc-mcp [--write]');
});

it.runIf(isDeep)(
  'SvcError is one class, whichever package, module and kind of module it comes from',
  async () => {
    writeFileSync(
      join(consumer, 'errors.mjs'),
      `import { createRequire } from 'node:module';
     import { RequestMismatchError, SvcError } from '@svc/sdk-rp';
     const required = createRequire(import.meta.url);
     const entries = ${JSON.stringify(withModules.flatMap(entriesOf))};
     const all = [];
     for (const entry of entries)
       for (const [kind, { SvcError: one }] of [['import', await import(entry)], ['require', required(entry)]])
         if (one !== undefined) all.push([entry, kind, one]);
     const from = all.map(([entry, kind]) => kind + ' ' + entry);
     for (const name of ['@svc/sdk-rp', '@svc/sdk-principal', '@svc/sdk-principal/agent'])
       for (const kind of ['import', 'require'])
         if (!from.includes(kind + ' ' + name)) throw new Error('no SvcError: ' + kind + ' ' + name);
     const isOne = all.every(([, , one]) => one === SvcError);
     const others = [new Error(''), null, {}, 'x'].some((value) => value instanceof SvcError);
     console.log(isOne, others, new SvcError('refused', '') instanceof RequestMismatchError);`,
    );
    const { stdout } = await run(process.execPath, ['errors.mjs'], { cwd: consumer });
    expect(stdout).toBe('true false false\n');
  },
);

it.runIf(isDeep)(
  'a Proof for another request is refused with REQUEST_MISMATCH, for imported and required copies of the SDK',
  async () => {
    writeFileSync(
      join(consumer, 'mismatch.mjs'),
      `import { createRequire } from 'node:module';
     import * as imported from '@svc/sdk-rp/fetch';
     import { createVerifier, RequestMismatchError } from '@svc/sdk-rp';
     import { signProof } from '@svc/sdk-principal/agent';
     import { createTestService } from '@svc/testing';
     const required = createRequire(import.meta.url);
     const service = await createTestService();
     const { did: audience, verifier } = service.createRelyingParty();
     const agent = await service.createAgent();
     const options = { baseUrl: 'https://svc.example', serviceDid: service.did, apiKey: 'key' };
     const verifiers = [verifier, createVerifier(options), required('@svc/sdk-rp').createVerifier(options)];
     const action = { type: 'commerce:purchase', resource: 'order/1', amount: 1, currency: 'USD' };
     const grantId = 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8K';
     const signed = { method: 'POST', url: 'https://shop.example/other' };
     const headers = { 'svc-grant': 'g', 'svc-proof': await signProof({ agent, grantId, audience, action, ...signed }) };
     const origin = 'https://shop.example';
     const answers = [];
     for (const { createAuthorizer } of [imported, required('@svc/sdk-rp/fetch')])
       for (const one of verifiers) {
         const asked = new Request(origin + '/orders', { method: 'POST', headers });
         const { response } = await createAuthorizer({ verifier: one, origin, action: () => action })(asked);
         answers.push(response.status, (await response.json()).reason);
       }
     const request = { method: 'POST', url: origin + '/orders' };
     for (const one of verifiers)
       await one
         .verify({ grant: 'g', proof: headers['svc-proof'], action, request })
         .catch((error) => answers.push(error instanceof RequestMismatchError));
     console.log(answers.join(' '));`,
    );
    const { stdout } = await run(process.execPath, ['mismatch.mjs'], { cwd: consumer });
    expect(stdout).toBe(`${'403 REQUEST_MISMATCH '.repeat(6)}true true true\n`);
  },
);

it.runIf(isDeep)(
  'service keys read with one of @svc/receipts, @svc/transparency and @svc/sdk-rp are accepted by each of them',
  async () => {
    const did = 'did:web:svc.example';
    const kid = `${did}#receipt-1`;
    const publicKeyMultibase = 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
    const method = { id: kid, type: 'Multikey', controller: did, publicKeyMultibase };
    const document = { id: did, verificationMethod: [method], assertionMethod: [kid] };
    writeFileSync(
      join(consumer, 'keys.mjs'),
      `import { createRequire } from 'node:module';
     import * as receipts from '@svc/receipts';
     import * as transparency from '@svc/transparency';
     import * as shops from '@svc/sdk-rp';
     const copies = [receipts, transparency, shops, createRequire(import.meta.url)('@svc/receipts')];
     const read = copies.map((copy) => copy.readServiceKeys(${JSON.stringify(document)}));
     const isTaken = read.every(({ keys }) => copies.every((copy) => copy.readServiceKeys(keys).keys === keys));
     console.log(isTaken, read.every(({ keys }) => keys.find('${kid}', 'receipt').length === 32));`,
    );
    const { stdout } = await run(process.execPath, ['keys.mjs'], { cwd: consumer });
    expect(stdout).toBe('true true\n');
  },
);

it.runIf(isDeep)(
  'svc-admin migrates an empty database, finds no fault in it, and creates keys',
  async () => {
    const adminUrl = inject('databaseAdminUrl');
    const database = await createDatabase(adminUrl, databaseUrl(adminUrl, 'template0'));
    try {
      const command = join(placeOf('@svc/admin'), readManifest('@svc/admin').bin?.['svc-admin'] ?? '');
      const keys = join(homeOf('@svc/admin'), 'keys.json');
      const env = { PATH: process.env.PATH, DATABASE_URL: database.url, SVC_RECEIPT_KEYS: keys };
      const admin = (...words: string[]) => run(process.execPath, [command, ...words], { env });
      expect((await admin('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
      await expect(admin('fsck')).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('migrate'),
      });
      await admin('migrate');
      expect((await admin('fsck')).stdout).toContain('No faults.');
      expect((await admin('keys', 'create', 'receipt')).stdout).toContain('receipt-1');
    } finally {
      await database.drop();
    }
  },
  60_000,
);

it.runIf(isDeep)(
  'create-svc-shop writes a project that compiles and passes its test, and refuses a folder that is not empty',
  async () => {
    const shop = join(consumer, 'Corner Shop');
    const command = join(
      placeOf('create-svc-shop'),
      readManifest('create-svc-shop').bin?.['create-svc-shop'] ?? '',
    );
    const create = () => run(process.execPath, [command, shop, '--packages', scratch]);
    expect((await create()).stdout).toContain('npm install');
    const { name, dependencies, devDependencies } = JSON.parse(
      readFileSync(join(shop, 'package.json'), 'utf8'),
    );
    expect(name).toBe('corner-shop');
    for (const [each, from] of Object.entries({ ...dependencies, ...devDependencies }))
      if (each.startsWith('@svc/')) expect(from).toBe(`file:${tarballs.get(each)}`);
    // Our packages are those of the folder above; others are linked, so that nothing is fetched.
    for (const [from, linked] of [
      ['packages/create-svc-shop', 'express'],
      ['packages/create-svc-shop', '@types/express'],
      ['.', '@types/node'],
      ['.', 'tsx'],
      ['.', 'typescript'],
    ] as const) {
      mkdirSync(join(shop, 'node_modules', linked, '..'), { recursive: true });
      symlinkSync(join(root, from, 'node_modules', linked), join(shop, 'node_modules', linked));
    }
    const npm = (...args: string[]) => run('npm', ['run', '--silent', ...args], { cwd: shop });
    expect(await npm('types')).toMatchObject({ stdout: '' });
    expect((await npm('test')).stdout).toMatch(/^# pass 5$.*^# fail 0$/ms);
    writeFileSync(join(shop, 'shop.ts'), 'mine');
    await expect(create()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('not empty') });
    expect(readFileSync(join(shop, 'shop.ts'), 'utf8')).toBe('mine');
  },
  60_000,
);

it.runIf(isDeep)(
  '@svc/sdk-rp installs beside the types of Express 4, and its middleware compiles with them',
  async () => {
    const shop = join(scratch, 'express-4');
    const types = join(root, 'packages', 'sdk-rp', 'node_modules', 'types-express-4');
    const stated = join(shop, 'types-express-4');
    mkdirSync(stated, { recursive: true });
    writeFileSync(join(shop, 'package.json'), '{ "private": true }');
    const { name, version } = JSON.parse(readFileSync(join(types, 'package.json'), 'utf8'));
    writeFileSync(join(stated, 'package.json'), JSON.stringify({ name, version }));
    // npm reads nothing but the version, so nothing is fetched. The types themselves are linked afterwards.
    const install = ['install', '--offline', '--no-audit', '--no-fund', './types-express-4'];
    await run('npm', [...install, tarballs.get('@svc/sdk-rp') ?? ''], { cwd: shop });
    const installed = join(shop, 'node_modules', '@types');
    rmSync(join(installed, 'express'), { recursive: true });
    symlinkSync(types, join(installed, 'express'));
    symlinkSync(join(root, 'node_modules', '@types', 'node'), join(installed, 'node'));
    writeFileSync(join(shop, 'shop.mts'), EXPRESS_4);
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'node16', '--types', 'node'];
    const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
    const compiling = run(process.execPath, [compiler, ...options, 'shop.mts'], { cwd: shop });
    expect((await compiling.catch((error) => error)).stdout).toBe('');
  },
  60_000,
);

const EXPRESS_4 = `
import express, { type Request } from 'express';
import { createVerifier } from '@svc/sdk-rp';
import { getAuthority, refuseUnreadableBody, requireAuthority } from '@svc/sdk-rp/express';
const verifier = createVerifier({ baseUrl: 'https://svc.example', serviceDid: 'did:web:svc.example' });
const origin = 'https://shop.example';
const order = (id: string) => ({ type: 'commerce:purchase', resource: 'order/' + id, amount: 1, currency: 'USD' }) as const;
const app = express();
app.post('/orders', express.json(), requireAuthority({ verifier, origin, action: (req) => order(req.body.id) }), (req, res) => {
  res.json(getAuthority(req).receiptId);
});
const byPath = requireAuthority({ verifier, origin, action: (req: Request<{ id: string }>) => order(req.params.id) });
app.post('/orders/:id', byPath, (req, res) => { res.json(getAuthority(req).receiptId); });
app.use(refuseUnreadableBody);
`;

describe.runIf(isDeep)('a strict TypeScript project that uses all packages compiles', () => {
  const TYPESCRIPT = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const NATIVE = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');

  it.each([
    ['CommonJS', 'node10', 'cts', TYPESCRIPT],
    ['Node16', 'node16', 'cts', NATIVE],
    ['Node16', 'node16', 'mts', NATIVE],
    ['ESNext', 'bundler', 'mts', NATIVE],
  ])(
    'with module %s and resolution %s in a file .%s',
    async (module, moduleResolution, extension, compiler) => {
      const file = `use-${moduleResolution}.${extension}`;
      writeFileSync(join(consumer, file), sourceOf(withModules.flatMap(entriesOf)));
      const options = { target: 'es2022', lib: ['es2023'], strict: true, types: ['node'], noEmit: true };
      const config = join(consumer, `tsconfig.${module}.${moduleResolution}.${extension}.json`);
      // The native compiler also checks the libraries, because it is quick. The older resolution is not tested with it.
      const skipLibCheck = compiler === TYPESCRIPT;
      const compilerOptions = {
        ...options,
        skipLibCheck,
        module,
        moduleResolution,
        exactOptionalPropertyTypes: true,
      };
      writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
      const outcome = await run(process.execPath, [compiler, '-p', config]).catch((error) => error);
      expect(outcome.stdout).toBe('');
    },
    60_000,
  );
});

/** What one package makes is accepted by the others, each of which has its own copy of the types. */
const sourceOf = (entries: readonly string[]): string => `
${entries
  .filter((entry) => !/fastify|mcp/.test(entry))
  .map((entry, n) => `import * as m${n} from '${entry}'; void m${n};`)
  .join('\n')}
import { signProof, type Agent } from '@svc/sdk-principal/agent';
import { createVerifier, type Receipt } from '@svc/sdk-rp';
import { requireAuthority, getAuthority } from '@svc/sdk-rp/express';
import { nativeCrypto } from '@svc/protocol/native';
import { parseDidKey, type DidKey } from '@svc/protocol';
import { type ServiceKeys, verifyReceipt } from '@svc/receipts';
import { verifyAttestation } from '@svc/transparency';
import { createTestService } from '@svc/testing';
declare const agent: Agent;
const did: DidKey = agent.did;
const verifier = createVerifier({ baseUrl: 'https://svc.example', serviceDid: 'did:web:svc.example', crypto: nativeCrypto });
export const guard = requireAuthority({
  verifier,
  origin: 'https://shop.example',
  action: (req) => ({ type: 'commerce:purchase', resource: req.path, amount: 1, currency: 'USD' }),
});
export const check = (receipt: Receipt): boolean => verifyReceipt(receipt, {}).ok;
export const attested = (keys: ServiceKeys) => verifyAttestation('', keys, nativeCrypto);
export const parsed = parseDidKey(did);
export async function inUnitTests() {
  const service = await createTestService();
  const { verifier, did: audience } = service.createRelyingParty();
  const action = { type: 'commerce:purchase', resource: 'order/1', amount: 1, currency: 'USD' } as const;
  const agent: Agent = await service.createAgent();
  await signProof({ agent, grantId: '', audience, method: 'POST', url: '', action });
  return requireAuthority({ verifier, origin: 'https://shop.example', action: () => action });
}
export { getAuthority, signProof };
`;
