/** The evaluate vectors in a few tests: as much as a mutant of a check must not pass, many times over. */
import { evaluateJson } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { expect, it } from 'vitest';

const vectors = readEvaluateVectors();
/** By the check, or the kind of case, that an id begins with. */
const kinds = [...new Set(vectors.map(({ id }) => id.slice(0, id.indexOf('-'))))];

it.each(kinds)('%s', (kind) => {
  const ofKind = vectors.filter(({ id }) => id.startsWith(`${kind}-`));
  expect(ofKind.map(({ input }) => evaluateJson(input, nativeCrypto))).toEqual(
    ofKind.map(({ expected }) => expected.body),
  );
});
