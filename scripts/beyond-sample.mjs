// Which test files `npm run test:deep` has more of than `npm test`: what is for it alone (`*.deep.test.ts`), and what imports
// the sizes of a sample, itself or through a module beside it. What runs in full in both need not run twice.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const groups = ['packages', 'apps', 'scripts', 'vectors'];
const SIZES = /from '(?:@svc\/testkit|\.)\/sampled(?:\.ts)?'/;

/** Paths of test files from the root, in order. */
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
