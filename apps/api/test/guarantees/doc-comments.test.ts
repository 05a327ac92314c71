/** A comment begins with its subject, so that it is understood at first reading (CONTRIBUTING.md, "Words"). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const HEADLESS = /^(?:So (?:long|much|many)|Of|Whoever|Who|From) /;

/** First lines of documentation comments, and of line comments that do not continue another. */
const beginningsIn = (source: string): string[] =>
  [...source.matchAll(/\/\*\*\s+(?:\* )?(.*)|(?<!^[ \t]*\/\/.*\n[ \t]*)\/\/ (.*)/gm)].map(
    ([, documentation, line]) => documentation ?? line ?? '',
  );

const headlessIn = (source: string): string[] => beginningsIn(source).filter((text) => HEADLESS.test(text));

const listSources = (): string[] => {
  const folders = ['packages', 'apps'].flatMap((area) =>
    readdirSync(join(ROOT, area)).flatMap((name) => [join(area, name, 'src'), join(area, name, 'guide')]),
  );
  return [...folders, 'bench/src', 'scripts', 'mutation/src', 'vectors/src']
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((name) => /\.(?:ts|tsx|mjs)$/.test(name) && !name.endsWith('.test.ts'));
};

it('comments in sources begin with their subject', () => {
  const sources = listSources();
  expect(sources.length).toBeGreaterThan(1_000);
  const found = sources.flatMap((name) =>
    headlessIn(readFileSync(join(ROOT, name), 'utf8')).map((text) => `${name}: ${text}`),
  );
  expect(found).toEqual([]);
});

it('the check finds a comment that begins without its subject, in each form of comment', () => {
  const source = `
/** Of these, one org's. */
  /**
   * Who asks.
   */
const a = 1; // So many stay.
// What it is,
// From here on.
// https://svc.example/Of one`;
  expect(headlessIn(source)).toEqual(["Of these, one org's. */", 'Who asks.', 'So many stay.']);
});
