/** `npm run new`: what it writes fits into the current tree, compiles, and has failing tests until it is completed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { methodOf, newRoute } from '../new/route.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'svc-new-test-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }), 60_000);

/** The files that git has; the test works on a copy, so that nothing is written into the clone. */
const tracked = () =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    ...{ cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 25 },
  })
    .split('\0')
    .filter((name) => /\.(?:m?ts|tsx|mjs|json|sql|css)$/.test(name) && (isDeep || EDITED.test(name)));
/** The files that a scaffold changes, and the script itself. */
const EDITED =
  /^(?:scripts\/new|packages\/(?:contract|protocol)\/src|packages\/store-pg\/src\/migrations|apps\/api\/src\/endpoints|apps\/api\/test\/guarantees\/access-matrix)\//;

const create = (...parameters: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', join(copy, 'scripts/new/main.ts'), ...parameters], {
    ...{ cwd: ROOT, encoding: 'utf8' },
  });
const read = (file: string) => readFileSync(join(copy, file), 'utf8');

const areas = sampleOf(
  readdirSync(join(ROOT, 'packages/contract/src/areas')).map((file) => file.replace('.ts', '')),
  1,
);
const idOf = (area: string) => `get${area[0]?.toUpperCase()}${area.slice(1).replace(/-.*/, '')}Scaffold`;
const PROFILES = 'packages/protocol/src/profiles';
const nextProfile = () => {
  const numbers = readdirSync(join(ROOT, PROFILES)).flatMap((file) =>
    (/^base-v(\d+)\.ts$/.exec(file)?.slice(1) ?? []).map(Number),
  );
  return `svc-base-v${Math.max(...numbers) + 1}`;
};
const MIGRATIONS = 'packages/store-pg/src/migrations';
let created: readonly ReturnType<typeof create>[] = [];

beforeAll(() => {
  for (const name of tracked()) cpSync(join(ROOT, name), join(copy, name));
  created = [
    ...areas.map((area) => create('route', `${area}/${idOf(area)}`)),
    create('migration', 'org-notes'),
    ...sampleOf(['p98-resource-not-blocked', 't98-issuer-not-blocked'], 1).map((name) =>
      create('check', name),
    ),
    create('profile', nextProfile()),
  ];
}, 120_000);

describe('npm run new', () => {
  it('writes into the contract, the checks and the migrations, and lists the files to write next', () => {
    for (const { status, stderr, stdout } of created) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^\S+\.(?:ts|sql) {3}/);
    }
    const ofCheck = created.find(({ stdout }) => stdout.startsWith('packages/protocol/src/checks/'))?.stdout;
    for (const written of ['packages/protocol/src/model/reason-code.ts', `${PROFILES}/`])
      expect(ofCheck).toContain(`\n${written}   `);
    const ofProfile = created.at(-1)?.stdout;
    for (const written of ['packages/receipts/src/verify/published.ts', 'kits/go/published.go'])
      expect(ofProfile).toContain(`\n${written}   `);
    for (const area of areas) {
      expect(read(`packages/contract/src/areas/${area}.ts`)).toContain(`  ${idOf(area)}: defineRoute({`);
      expect(read(`apps/api/src/endpoints/${area}.ts`)).toContain(`'${idOf(area)} is not written yet'`);
    }
    const touched = ['contract/src/areas', 'protocol/src/checks', 'protocol/src/profiles'].flatMap((folder) =>
      readdirSync(join(copy, 'packages', folder)).map((file) => `packages/${folder}/${file}`),
    );
    for (const file of touched) expect(() => transformSync(read(file), { loader: 'ts' })).not.toThrow();
  });

  it('numbers a migration after the last one, and the migration raises an exception', () => {
    const folders = readdirSync(join(copy, MIGRATIONS)).sort();
    const [before, last = ''] = folders.slice(-2);
    expect(last).toBe(`${String(Number(before?.slice(0, 4)) + 1).padStart(4, '0')}-org-notes`);
    expect(read(`${MIGRATIONS}/${last}/01-org-notes.sql`)).toContain(
      `raise exception '${MIGRATIONS}/${last}/01-org-notes.sql is not written yet'`,
    );
  });

  it('names in a migration the line `runs-from` of the one before it, and does not state it yet', () => {
    const [before = '', last = ''] = readdirSync(join(copy, MIGRATIONS)).sort().slice(-2);
    const line = /^-- runs-from: \S+$/m;
    const [stated] = readdirSync(join(copy, MIGRATIONS, before))
      .map((file) => line.exec(read(`${MIGRATIONS}/${before}/${file}`))?.[0])
      .filter((found) => found !== undefined);
    const text = read(`${MIGRATIONS}/${last}/01-org-notes.sql`);
    expect(text).toContain(`the line of ${before}:\n--   \`${stated ?? `-- runs-from: ${before}`}\``);
    expect(text).not.toMatch(line);
  });

  it('gives a route the method of its verb', () => {
    const ids = ['listNotes', 'getNote', 'putNote', 'updateOrg', 'deleteStream', 'rotateSecret', 'setupNote'];
    expect(ids.map(methodOf)).toEqual(['get', 'get', 'put', 'patch', 'delete', 'post', 'post']);
    for (const area of areas)
      expect(read(`packages/contract/src/areas/${area}.ts`)).toContain(
        `  ${idOf(area)}: defineRoute({\n    method: 'get',`,
      );
  });

  it.runIf(isDeep)('refuses an id that another check has, and names the next free one', () => {
    expect(create('check', 'p20-resource-not-blocked')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^p20: is the id of \S+\/p20-resource-authorized\.ts; the next free id is p\d\d\n$/,
      ),
    });
    expect(readdirSync(join(copy, 'packages/protocol/src/checks'))).not.toContain(
      'p20-resource-not-blocked.ts',
    );
  });

  it('gives a profile the next number only', () => {
    expect(read(`${PROFILES}/profile.ts`)).toMatch(
      new RegExp(`PROFILE_IDS = \\['svc-base-v1', .*'${nextProfile()}'\\]`),
    );
    const { status, stderr } = create('profile', 'svc-base-v1');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^svc-base-v1: the next profile is svc-base-v\d+\n$/),
    });
  });

  it('changes nothing if the name exists, and says what a name must be if it is invalid', () => {
    const table = read('packages/protocol/src/checks/table.ts');
    expect(create('check', 'p98-resource-not-blocked').status).toBe(1);
    expect(read('packages/protocol/src/checks/table.ts')).toBe(table);
    expect(create('route', 'orgs/notes').stderr).toBe(
      'orgs/notes: must be AREA/NAME such as orgs/listNotes: an area of the contract and an operation id that begins with its verb\n',
    );
    expect(() => newRoute('nowhere/listNotes')).toThrow(
      /^nowhere: is no area of the contract; there are agents, .*verify$/,
    );
    if (isDeep)
      expect(create('--help')).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Usage: npm run new/),
      });
    if (isDeep) expect(create('table', 'notes').stderr).toMatch(/^Usage: npm run new/);
  });

  it.runIf(isDeep)(
    'writes code that compiles',
    () => {
      // Where packages find their dependencies: links to the root's packages, which are the clone's, and to each other,
      // which are the copy's.
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      for (const name of new Set(tracked().map((file) => join(dirname(file), 'node_modules'))))
        if (name !== 'node_modules' && existsSync(join(ROOT, name)))
          cpSync(join(ROOT, name), join(copy, name), {
            ...{ recursive: true, verbatimSymlinks: true },
            filter: (path) => !/\.(?:cache|bin|vite)/.test(path),
          });
      const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.node.json', '--noEmit'], {
        ...{ cwd: copy, encoding: 'utf8' },
      });
      expect(stdout).toBe('');
    },
    240_000,
  );
});
