// Lists the test files of which `npm run test:deep` runs more than `npm test`: the deep ones (`*.deep.test.ts`), and
// those that import the sizes of a sample, themselves or through a module in their folder. Other files run in full in
// both and need not run twice.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const groups = ['packages', 'apps', 'scripts', 'vectors'];
const SIZES = /from '(?:@svc\/testkit|\.)\/sampled(?:\.ts)?'/;

/** Paths of test files, relative to the root, sorted. */
export function listBeyondSample(root) {
  const sources = groups.flatMap((group) => [...listSources(root, group)]);
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const sized = sources.filter((path) => SIZES.test(read(path)));
  const isTest = (path) => path.endsWith('.test.ts');
  const shared = sized.filter((path) => !isTest(path)).map((path) => `/${basename(path)}'`);
  const hasMore = (path) =>
    path.endsWith('.deep.test.ts') ||
    sized.includes(path) ||
    shared.some((name) => read(path).includes(name));
  return sources.filter((path) => isTest(path) && hasMore(path)).sort();
}

function* listSources(root, folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (['node_modules', 'dist'].includes(entry.name)) continue;
    if (entry.isDirectory()) yield* listSources(root, path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}
