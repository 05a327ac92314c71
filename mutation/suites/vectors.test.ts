/** The evaluate vectors in a few tests, so that they run fast for each of many mutants. */
import { evaluateJson } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { expect, it } from 'vitest';

const vectors = readEvaluateVectors();
/** By the check, or the kind of case, with which an id begins. */
const kinds = [...new Set(vectors.map(({ id }) => id.slice(0, id.indexOf('-'))))];

it.each(kinds)('%s', (kind) => {
  const ofKind = vectors.filter(({ id }) => id.startsWith(`${kind}-`));
  expect(ofKind.map(({ input }) => evaluateJson(input, nativeCrypto))).toEqual(
    ofKind.map(({ expected }) => expected.body),
  );
});
