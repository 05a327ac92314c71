/**
 * Writes vectors/, or with `--check` compares it and exits with 1 on a difference. Run it only on purpose: the test
 * suite checks the vectors and never rewrites them, because a changed vector is a change of the protocol.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { buildExpectedFiles, findDifferences, readVectorFiles, VECTORS_DIR } from './vector-files.ts';

const expected = await buildExpectedFiles();
const differences = findDifferences(expected, readVectorFiles());

if (process.argv.includes('--check')) {
  for (const difference of differences) console.error(difference);
  if (differences.length > 0)
    console.error(`vectors/ differs from its source in ${differences.length} files`);
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  mkdirSync(`${VECTORS_DIR}evaluate`, { recursive: true });
  for (const path of readVectorFiles().keys())
    if (!expected.has(path) && !path.startsWith('schema/')) rmSync(`${VECTORS_DIR}${path}`);
  for (const [path, text] of expected) writeFileSync(`${VECTORS_DIR}${path}`, text);
  for (const difference of differences) console.log(difference);
  console.log(`${expected.size} files, ${differences.length} written anew`);
}
