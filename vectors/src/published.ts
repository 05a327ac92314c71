/** The published vectors as committed, for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import type { EvaluateVector } from './evaluate-vectors.ts';

const VECTORS = new URL('../', import.meta.url);

/** The parsed content of one file. vectors.test.ts checks its form against the schemas. */
export const readVectorFile = <T>(path: string): T =>
  JSON.parse(readFileSync(new URL(path, VECTORS), 'utf8')) as T;

export const readEvaluateVectors = (): readonly EvaluateVector[] =>
  readdirSync(new URL('evaluate/', VECTORS))
    .sort()
    .map((name) => readVectorFile<EvaluateVector>(`evaluate/${name}`));

export const getVector = (id: string): EvaluateVector =>
  readVectorFile<EvaluateVector>(`evaluate/${id}.json`);
