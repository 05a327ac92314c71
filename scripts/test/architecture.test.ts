/** Checks that what `docs/architecture.md` shows and what decisions name exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const text = read('docs/architecture.md');

/** The text of a section, up to the next heading. */
const section = (title: string): string => text.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

/** Files of packages are named without the folder `packages/`. */
const placeOf = (name: string) =>
  /^(?:apps|bench|docs|kits|packages|scripts|vectors)\//.test(name) ? name : `packages/${name}`;
const filesIn = (part: string): string[] => [
  ...new Set([...part.matchAll(/[\w-]+(?:\/[\w.-]+)+\.(?:ts|sql|md)\b/g)].map(([name]) => placeOf(name))),
];

it('every file named in docs/architecture.md exists', () => {
  const files = filesIn(text);
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

it('every file that a decision names in backticks exists', () => {
  const decisions = readdirSync(new URL('docs/decisions/', root)).map((name) =>
    read(`docs/decisions/${name}`),
  );
  const files = decisions.flatMap((page) => filesIn([...page.matchAll(/`[^`\n]+`/g)].join(' ')));
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

it('every package but testkit is in the diagram of docs/architecture.md, and every package is in CONTRIBUTING.md', () => {
  const packages = readdirSync(new URL('packages/', root)).filter((name) =>
    existsSync(new URL(`packages/${name}/package.json`, root)),
  );
  expect(packages.length).toBeGreaterThan(20);
  const drawn = new Set(
    [...section('Packages').matchAll(/^ {2}(\S+) --> (\S+)$/gm)].flatMap(([, ...ends]) => ends),
  );
  expect(packages.filter((name) => !drawn.has(name))).toEqual(['testkit']);
  const table = read('CONTRIBUTING.md');
  expect(
    packages.filter((name) => !table.includes(`\`packages/${name}\``) && !table.includes(`\`${name}\``)),
  ).toEqual([]);
});

it('docs/decisions/README.md lists each decision once, with its number and title', () => {
  const index = read('docs/decisions/README.md');
  const pages = readdirSync(new URL('docs/decisions/', root)).filter((name) => /^\d{4}-/.test(name));
  const lines = pages.map((name) => {
    const [, number, title] = /^# (\d+)\. (.*)$/m.exec(read(`docs/decisions/${name}`)) ?? [];
    return `- [${number}. ${title}](${name})`;
  });
  expect(
    index
      .split('\n')
      .filter((line) => line.startsWith('- '))
      .sort(),
  ).toEqual(lines.sort());
});

it('every arrow between packages in docs/architecture.md is a dependency in package.json', () => {
  const arrows = [...section('Packages').matchAll(/^ {2}(\S+) --> (\S+)$/gm)];
  expect(arrows.length).toBeGreaterThan(15);
  const wrong = arrows.filter(([, from = '', to = '']) => {
    const { dependencies, devDependencies } = JSON.parse(read(`${placeOf(from)}/package.json`));
    // What is bundled into a published package is one of its development dependencies.
    return !(`@svc/${to}` in { ...dependencies, ...devDependencies });
  });
  expect(wrong.map(([arrow]) => arrow)).toEqual([]);
});

it('every call of `vi.waitFor` and `vi.waitUntil` in a test has an explicit timeout', () => {
  const roots = ['packages', 'apps'].flatMap((group) =>
    readdirSync(new URL(`${group}/`, root)).flatMap((name) => [
      `${group}/${name}/src/`,
      `${group}/${name}/test/`,
    ]),
  );
  const tests = [...roots, 'scripts/', 'vectors/src/']
    .filter((folder) => existsSync(new URL(folder, root)))
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => folder + name),
    )
    .filter((path) => path.endsWith('.test.ts'));
  const calls = tests.flatMap((path) => {
    const [, ...found] = read(path)
      .replace(/'[^'\n]*'/g, "''")
      .split(/\bvi\.wait(?:For|Until)\(/);
    return found.map((text) => ({ path, call: argumentsOf(text) }));
  });
  expect(calls.length).toBeGreaterThan(10);
  const hasLimit = /\{\s*timeout: |,\s*[\d_]+,?\s*$/;
  expect(calls.filter(({ call }) => !hasLimit.test(call))).toEqual([]);
});

/** The text up to the bracket that closes the one before it. */
const argumentsOf = (text: string): string => {
  let depth = 1;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')' && --depth === 0) return text.slice(0, at);
  }
  return text;
};

describe('the documentation of the commit', () => {
  const [, body = ''] = read('packages/store-pg/schema.sql').split('FUNCTION public.svc_commit_decisions(');
  const called = [
    ...body
      .slice(0, body.indexOf('end;\n$function$'))
      .matchAll(/\b(svc_\w+)\(p_decisions|\b(svc_prepare_commit)\(/g),
  ].map(([, name, first]) => name ?? first);
  /** The metric names in the first cells of the rows of its tables. */
  const namesIn = (part: string): string[] =>
    [...part.matchAll(/^\| ([^|]*`svc_.*?) \|/gm)].flatMap(([, names = '']) => names.match(/svc_\w+/g) ?? []);

  it('lists in docs/architecture.md the functions that the commit calls, in their order', () => {
    expect(namesIn(section('The commit, in the database'))).toEqual(called);
  });

  it('lists the same functions in docs/scale.md, except svc_prepare_commit, which reads no row', () => {
    const [, table = ''] = read('docs/scale.md').split('## What a commit reads, locks and writes');
    expect([...new Set(namesIn(table.split('\n## ')[0] ?? ''))].sort()).toEqual(
      called.filter((name) => name !== 'svc_prepare_commit').sort(),
    );
  });
});

describe('the section on POST /verify in docs/architecture.md', () => {
  const [way = '', onBudgets = ''] = section('`POST /verify`').split('A decision on balances');

  it('names at most twelve files between the body and the query', () => {
    const files = filesIn(way);
    expect(files.length).toBeGreaterThan(6);
    expect(files.length).toBeLessThanOrEqual(12);
  });

  it('names every stage that verify.ts imports, and no other', () => {
    const folder = 'packages/service/src/verify/';
    const stages = filesIn(way + onBudgets).filter((file) => file.startsWith(folder));
    const imported = [...read(`${folder}verify.ts`).matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(
      ([, name]) => `${folder}${name}`,
    );
    // Remembered signatures are a part of a stage, not a stage. A dry run ends with the evaluation and is not one
    // either.
    const expected = [...imported, `${folder}verify.ts`].filter(
      (file) => !/\/(?:signatures|dry-run)\.ts$/.test(file),
    );
    expect(stages.sort()).toEqual(expected.sort());
  });

  it('names no stage that imports verify.ts', () => {
    for (const file of filesIn(way).filter((name) => name.includes('/service/src/verify/')))
      expect(read(file)).not.toMatch(/from '\.\/verify\.ts'/);
  });
});
