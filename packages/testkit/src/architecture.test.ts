/** What `docs/architecture.md` shows is there. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const text = read('docs/architecture.md');

/** The text of a section, down to the next. */
const section = (title: string): string => text.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

/** Files of packages are named without the folder that all packages are in. */
const placeOf = (name: string) => (/^(?:apps|packages|docs)\//.test(name) ? name : `packages/${name}`);
const filesIn = (part: string): string[] => [
  ...new Set([...part.matchAll(/[\w-]+(?:\/[\w.-]+)+\.(?:ts|sql|md)\b/g)].map(([name]) => placeOf(name))),
];

it('every file that it names exists', () => {
  const files = filesIn(text);
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

it('every arrow between packages is a dependency', () => {
  const arrows = [...section('Packages').matchAll(/^ {2}(\S+) --> (\S+)$/gm)];
  expect(arrows.length).toBeGreaterThan(15);
  const wrong = arrows.filter(([, from = '', to = '']) => {
    const { dependencies, devDependencies } = JSON.parse(read(`${placeOf(from)}/package.json`));
    // What is bundled into a published package is a development dependency of it.
    return !(`@svc/${to}` in { ...dependencies, ...devDependencies });
  });
  expect(wrong.map(([arrow]) => arrow)).toEqual([]);
});

describe('the way of POST /verify', () => {
  const [way = '', onBudgets = ''] = section('`POST /verify`').split('A decision on balances');

  it('has twelve files at most between the body and the query', () => {
    const files = filesIn(way);
    expect(files.length).toBeGreaterThan(6);
    expect(files.length).toBeLessThanOrEqual(12);
  });

  it('names every stage that verify.ts calls, and no other', () => {
    const folder = 'packages/service/src/verify/';
    const stages = filesIn(way + onBudgets).filter((file) => file.startsWith(folder));
    const imported = [...read(`${folder}verify.ts`).matchAll(/from '\.\/([\w-]+\.ts)'/g)].map(
      ([, name]) => `${folder}${name}`,
    );
    // What a stage has for itself is not a stage: remembered signatures. Nor is what ends with the evaluation.
    const expected = [...imported, `${folder}verify.ts`].filter(
      (file) => !/\/(?:signatures|dry-run)\.ts$/.test(file),
    );
    expect(stages.sort()).toEqual(expected.sort());
  });

  it('leads to no circle: no stage imports the one that calls it', () => {
    for (const file of filesIn(way).filter((name) => name.includes('/service/src/verify/')))
      expect(read(file)).not.toMatch(/from '\.\/verify\.ts'/);
  });
});
