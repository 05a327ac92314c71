/**
 * Malformed input of every kind against the engine. Nothing may throw, every Receipt body must be well formed, and no
 * mutant may be allowed: an ALLOW requires exactly the signed tokens and an Action with the same canonical form.
 */

import { BoundedMemo } from '@svc/codec';
import { sampled } from '@svc/testkit/sampled';
import { getVector } from '@svc/vectors/src/published.ts';
import {
  editPart,
  mutateBytes,
  mutateCharacters,
  mutateJson,
  mutateJsonText,
  mutateParts,
} from '@svc/vectors/src/random/mutations.ts';
import { anyJson } from '@svc/vectors/src/random/odd-values.ts';
import { Random } from '@svc/vectors/src/random/random.ts';
import { compileBodySchema } from '@svc/vectors/src/schemas.ts';
import { KEYS, type TestKey } from '@svc/vectors/src/test-keys.ts';
import { describe, expect, it } from 'vitest';
import {
  buildReceiptBody,
  type CryptoPort,
  decodeBase64url,
  type EvaluateInput,
  encodeBase64url,
  encodeUtf8,
  evaluate,
  type JsonObject,
  type JsonValue,
  jcs,
  parsePresented,
  portableCrypto,
  type ReceiptBody,
  type VerifyRequest,
} from '../../src/index.ts';
import { nativeCrypto } from '../../src/native.ts';
import { contextOf, factsOf } from '../facts-of.ts';

/** Number of requests of each kind that differ from the honest one. */
const CASES_PER_KIND = sampled({ quick: 200, deep: 10_000 });
const PORTABLE_EVERY = 100;
/** Time limit for the full number of cases of one kind on a loaded machine. */
const DEADLINE_MS = 300_000;

/** Most mutants are refused before their signature is verified; the honest half of a request is verified repeatedly. */
const verdicts = new BoundedMemo<boolean>(2_000);
const memoisedCrypto: CryptoPort = {
  ...nativeCrypto,
  verify: (publicKey, message, signature) => {
    const key = `${message}.${encodeBase64url(signature)}.${encodeBase64url(publicKey)}`;
    const known = verdicts.find(key);
    if (known !== undefined) return known;
    const verdict = nativeCrypto.verify(publicKey, message, signature);
    verdicts.insert(key, verdict);
    return verdict;
  },
};

const bases = [
  'allow-purchase',
  'allow-api-call',
  'p01-jwt-claims',
  'p02-json-web-key',
  'p14-htu-dot-segments',
  'p19-largest',
  'survivors-fourth-is-authority',
].map((id) => {
  const { input } = getVector(id);
  return { input, facts: factsOf(input, nativeCrypto) };
});
type Base = (typeof bases)[number];

const isWellFormedBody = compileBodySchema();

const run = ({ input, facts }: Base, request: VerifyRequest, crypto: CryptoPort): ReceiptBody => {
  const context = contextOf(input, crypto);
  const decided = evaluate(parsePresented(request), facts, context);
  if (decided.kind !== 'decided') throw new Error('every fact was given');
  return buildReceiptBody(request, decided, context);
};

const requestOf = ({ grant, proof, action }: EvaluateInput): VerifyRequest => ({ grant, proof, action });

type Mutate = (request: VerifyRequest, random: Random, base: Base) => VerifyRequest;

const inToken =
  (edit: (token: string, random: Random, other: string) => string): Mutate =>
  (request, random) =>
    random.below(2) === 0
      ? { ...request, grant: edit(request.grant, random, request.proof) }
      : { ...request, proof: edit(request.proof, random, request.grant) };

const stringified =
  (edit: (value: JsonValue, random: Random) => JsonValue, random: Random) => (json: string) =>
    JSON.stringify(edit(JSON.parse(json) as JsonValue, random));

/** Mutations without a new signature, of which none may be allowed. */
const UNSIGNED: Readonly<Record<string, Mutate>> = {
  'characters of a token': inToken(mutateCharacters),
  'parts of a token': inToken((token, random, other) => mutateParts(token, other, random)),
  'bytes of a part': inToken(mutateBytes),
  'members of a header': inToken((token, random) => editPart(token, 0, stringified(mutateJson, random))),
  'text of a header': inToken((token, random) => editPart(token, 0, (json) => mutateJsonText(json, random))),
  'members of the claims': inToken((token, random) => editPart(token, 1, stringified(mutateJson, random))),
  'text of the claims': inToken((token, random) =>
    editPart(token, 1, (json) => mutateJsonText(json, random)),
  ),
  'any JSON as claims': inToken((token, random) => editPart(token, 1, () => JSON.stringify(anyJson(random)))),
  'members of the Action': (request, random) => ({
    ...request,
    action: mutateJson(request.action as JsonValue, random),
  }),
  'any JSON as Action': (request, random) => ({ ...request, action: anyJson(random) }),
};

const assertWellFormed = (body: ReceiptBody): void => {
  const isValid = isWellFormedBody(body);
  if (!isValid) throw new Error(`body: ${JSON.stringify(isWellFormedBody.errors)}`);
  if (JSON.stringify(body) !== jcs(body as unknown as JsonObject)) throw new Error('body: not in JCS order');
};

const fuzz = (
  seed: number,
  mutate: Mutate,
  assertAllow: (request: VerifyRequest, base: Base) => void,
): void => {
  const random = new Random(seed);
  for (let cases = 0; cases < CASES_PER_KIND; ) {
    const base = random.pick(bases);
    const honest = requestOf(base.input);
    const request = mutate(honest, random, base);
    if (JSON.stringify(request) === JSON.stringify(honest)) continue;
    cases++;
    try {
      const body = run(base, request, memoisedCrypto);
      assertWellFormed(body);
      if (body.decision === 'ALLOW') assertAllow(request, base);
      if (cases % PORTABLE_EVERY === 0) expect(run(base, request, portableCrypto)).toEqual(body);
    } catch (cause) {
      throw new Error(`case ${cases} of seed ${seed}: ${JSON.stringify(request).slice(0, 20_000)}`, {
        cause,
      });
    }
  }
};

/** An ALLOW without a new signature requires the unchanged tokens and an Action with the same canonical form. */
const assertUnchanged = (request: VerifyRequest, { input }: Base): void => {
  expect(request.grant).toBe(input.grant);
  expect(request.proof).toBe(input.proof);
  expect(jcs(request.action as JsonValue)).toBe(jcs(input.action as JsonValue));
};

const resign = (token: string, key: TestKey, part: 0 | 1, edit: (json: string) => string): string => {
  const unsigned = editPart(token, part, edit);
  const signingInput = unsigned.slice(0, unsigned.lastIndexOf('.'));
  return `${signingInput}.${encodeBase64url(key.sign(encodeUtf8(signingInput)))}`;
};

/** Headers and claims changed and signed again by their rightful signer, so that the signature verifies. */
const resigned: Mutate = (request, random, { input }) => {
  const edit = (json: string) =>
    random.below(3) === 0 ? mutateJsonText(json, random) : stringified(mutateJson, random)(json);
  const part = random.below(4) === 0 ? 0 : 1;
  const target = random.below(3);
  if (target === 0) return { ...request, grant: resign(request.grant, KEYS.principal, part, edit) };
  if (target === 1) return { ...request, proof: resign(request.proof, KEYS.agent, part, edit) };
  const action = mutateJson(input.action as JsonValue, random);
  const withAction = (json: string) => JSON.stringify({ ...JSON.parse(json), action });
  return { ...request, proof: resign(request.proof, KEYS.agent, 1, withAction), action };
};

const readPart = (token: string, part: 0 | 1) =>
  JSON.parse(new TextDecoder().decode(decodeBase64url(token.split('.')[part] ?? '') ?? new Uint8Array()));

/** The conditions of an ALLOW, checked on the tokens without the engine. */
const assertEntitled = ({ grant, proof, action }: VerifyRequest, { input }: Base): void => {
  const granted = readPart(grant, 1);
  const proven = readPart(proof, 1);
  for (const token of [grant, proof])
    expect(Object.keys(readPart(token, 0)).sort()).toEqual(['alg', 'kid', 'typ']);
  const said = action as Record<string, JsonValue>;
  const nowMs = Date.parse(input.now);
  expect(jcs(proven.action)).toBe(jcs(said));
  expect([proven.aud, proven.grant_id]).toEqual([input.relying_party.did, granted.id]);
  expect(proven.iss).toBe(granted.credentialSubject.id);
  expect(Math.abs(nowMs - proven.iat * 1000)).toBeLessThanOrEqual(
    input.relying_party.proof_window_seconds * 1000,
  );
  expect(Date.parse(granted.validFrom)).toBeLessThanOrEqual(nowMs);
  expect(Date.parse(granted.validUntil)).toBeGreaterThan(nowMs);
  const audience = granted.credentialSubject.audience ?? [input.relying_party.did];
  expect(audience).toContain(input.relying_party.did);
  const allows = granted.credentialSubject.capabilities.some(
    ({ action: kind, constraints }: { action: string; constraints: Record<string, JsonValue> }) =>
      kind === said.type &&
      (kind === 'api:call'
        ? Array.isArray(constraints.methods) && constraints.methods.includes(said.method)
        : constraints.currency === said.currency && Number(said.amount) <= Number(constraints.maxAmount)),
  );
  expect(allows).toBe(true);
};

describe('malformed input', () => {
  const least = sampled({ quick: 2_000, deep: 100_000 });
  it(`consists of at least ${least} cases`, () => {
    expect((Object.keys(UNSIGNED).length + 1) * CASES_PER_KIND).toBeGreaterThanOrEqual(least);
  });

  it('is made from requests that are allowed', () => {
    for (const base of bases) expect(run(base, requestOf(base.input), nativeCrypto).decision).toBe('ALLOW');
  });

  it.each(Object.entries(UNSIGNED).map(([name, mutate], i) => [name, mutate, 1000 + i] as const))(
    'in the %s gives a well-formed Receipt body, and an ALLOW only of what was signed',
    (_name, mutate, seed) => {
      fuzz(seed, mutate, assertUnchanged);
    },
    DEADLINE_MS,
  );

  it(
    'that is signed again gives a well-formed Receipt body, and an ALLOW only of what the tokens say',
    () => {
      fuzz(2000, resigned, assertEntitled);
    },
    DEADLINE_MS,
  );

  it('that is nested 50,000 deep in the Action is denied with ACTION_MALFORMED', () => {
    const [base] = bases;
    if (base === undefined) throw new Error('there is a base');
    let deep: JsonValue = {};
    for (let i = 0; i < 50_000; i++)
      deep = { type: 'commerce:purchase', resource: deep, amount: 1, currency: 'USD' };
    for (const action of [deep, [deep]])
      expect(run(base, { ...requestOf(base.input), action }, nativeCrypto).reason).toBe('ACTION_MALFORMED');
  });
});
