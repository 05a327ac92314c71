/** The independent implementation, which shares no code and has no types. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Evaluate } from './compare-engines.ts';

const require = createRequire(import.meta.url);

export const INDEPENDENT_SERVER = require.resolve('@svc/examples/independent-engine/server.mjs');

export const loadIndependentEngine = async (): Promise<Evaluate> => {
  const path = require.resolve('@svc/examples/independent-engine/evaluate.mjs');
  const { evaluate }: { evaluate: Evaluate } = await import(pathToFileURL(path).href);
  return evaluate;
};
