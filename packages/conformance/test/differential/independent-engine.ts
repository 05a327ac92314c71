/** The independent implementation, which shares no code and has no types. */
import { fileURLToPath } from 'node:url';
import type { Evaluate } from './compare-engines.ts';

export const INDEPENDENT_SERVER = fileURLToPath(
  new URL('../../../../examples/independent-engine/server.mjs', import.meta.url),
);

export const loadIndependentEngine = async (): Promise<Evaluate> => {
  const url = new URL('../../../../examples/independent-engine/evaluate.mjs', import.meta.url).href;
  const { evaluate }: { evaluate: Evaluate } = await import(url);
  return evaluate;
};
