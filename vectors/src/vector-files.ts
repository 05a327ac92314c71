/** Reads vectors/ from disk, and finds how it differs from what the source generates. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fillEvaluateSchema } from './evaluate-schema.ts';
import { buildVectorSet } from './vector-set.ts';

export const VECTORS_DIR = fileURLToPath(new URL('../', import.meta.url));

const CONFIGURATION: ReadonlySet<string> = new Set(['package.json']);

const jsonFilesIn = (folder: string): string[] =>
  existsSync(`${VECTORS_DIR}${folder}`)
    ? readdirSync(`${VECTORS_DIR}${folder}`)
        .filter((name) => name.endsWith('.json') && !CONFIGURATION.has(name))
        .map((name) => `${folder}${name}`)
        .sort()
    : [];

const read = (path: string): string => readFileSync(`${VECTORS_DIR}${path}`, 'utf8');

/** Every JSON file of the set by path, including the manifest. */
export const readVectorFiles = (): ReadonlyMap<string, string> =>
  new Map(
    [...jsonFilesIn(''), ...jsonFilesIn('evaluate/'), ...jsonFilesIn('schema/')].map((path) => [
      path,
      read(path),
    ]),
  );

const EVALUATE_SCHEMA = 'schema/evaluate.schema.json';

/** What the source generates for the schemas that are on disk, with the schema of which it writes parts. */
export const buildExpectedFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const schema = fillEvaluateSchema(read(EVALUATE_SCHEMA));
  const schemas = new Map(jsonFilesIn('schema/').map((path) => [path, read(path)])).set(
    EVALUATE_SCHEMA,
    schema,
  );
  return new Map([...(await buildVectorSet(schemas)), [EVALUATE_SCHEMA, schema]]);
};

/** Paths that are missing, changed or left over, each with which of the three; empty if all files are as generated. */
export const findDifferences = (
  expected: ReadonlyMap<string, string>,
  actual: ReadonlyMap<string, string>,
): readonly string[] => {
  const differences: string[] = [];
  for (const [path, text] of expected) {
    const found = actual.get(path);
    if (found === undefined) differences.push(`missing: ${path}`);
    else if (found !== text) differences.push(`changed: ${path}`);
  }
  for (const path of actual.keys())
    if (!expected.has(path) && !path.startsWith('schema/')) differences.push(`left over: ${path}`);
  return differences;
};
