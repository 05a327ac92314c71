import { type CryptoPort, type JsonObject, jcs } from '@svc/codec';
import { sampled } from '@svc/testkit/sampled';
import { outcomeOf } from '@svc/vectors/src/evaluate-vectors.ts';
import { getVector, readEvaluateVectors } from '@svc/vectors/src/published.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf, type FoundFacts, factsOf } from '../test/facts-of.ts';
import { evaluate, parsePresented, planLookups } from './evaluate.ts';
import { type EvaluateInput, evaluateJson } from './evaluate-json.ts';
import { absent, type Facts, found, type Lookup, unavailable } from './facts.ts';
import { nativeCrypto } from './native.ts';
import { PROFILES } from './profiles/index.ts';
import type { ReceiptBody } from './receipt-body.ts';

/** Verification is pure, so results are cached: the laws are about the table of checks, not about Ed25519. */
const verdicts = new Map<string, boolean>();
const crypto: CryptoPort = {
  ...nativeCrypto,
  verify: (publicKey, message, signature) => {
    const key = `${publicKey.join()}|${message}|${signature.join()}`;
    const verdict = verdicts.get(key) ?? nativeCrypto.verify(publicKey, message, signature);
    verdicts.set(key, verdict);
    return verdict;
  },
};

const base = getVector('allow-purchase').input;
const inputs = readEvaluateVectors().map(({ input }) => input);
const NOW_MS = Date.parse(base.now);

const NEVER_CONSUMED = getVector('v2-total-first').input.facts.balances ?? 'absent';
/** Balances from the vectors; they seldom fit the Grant. */
const snapshots = inputs.flatMap(({ facts: { balances } }) =>
  typeof balances === 'object' ? [balances.found] : [],
);

const around = (ms: number) =>
  fc
    .constantFrom(-3_600_001, -3_600_000, -30_001, -30_000, -1, 0, 1, 86_400_000)
    .map((offset) => at(ms + offset));
const at = (ms: number) => new Date(ms).toISOString();

type JsonFacts = Required<EvaluateInput['facts']>;
type FactArbitraries = { [Name in keyof JsonFacts]: fc.Arbitrary<JsonFacts[Name]> };

/**
 * Facts of every kind for `input`. If a fact is found, half of the time it is the one that makes the input an ALLOW.
 */
const factsAround = (input: EvaluateInput): fc.Arbitrary<JsonFacts> => {
  const arbitraries: FactArbitraries = {
    principal: answer(
      fc.record({
        verification: fc.constantFrom('verified', 'unverified'),
        key: fc.option(
          fc.record({ state: fc.constantFrom('active', 'retired', 'compromised'), since: around(NOW_MS) }),
        ),
      }),
      input.facts.principal,
    ),
    document: answer(
      fc.record({
        document: fc.constantFrom(documentOf(input), documentOf(base), '{}', 'no json'),
        resolved_at: around(NOW_MS),
      }),
      input.facts.document,
    ),
    allocation: answer(
      fc.record({
        issuer: fc.constantFrom('did:web:acme.example', 'did:web:mallory.example'),
        agent: fc.constantFrom('did:key:z6MkOther', allocationAgentOf(base)),
        status_list_credential: fc.constantFrom(
          'https://status.svc.example/acme.example/1',
          'https://x.example/1',
        ),
        status_list_index: fc.constantFrom('94567', '0'),
        allocated_at: around(NOW_MS),
      }),
      input.facts.allocation,
    ),
    status: answer(
      fc.record({
        revoked: fc.boolean(),
        credential_hash: fc.constant(`sha256:${'0'.repeat(64)}`),
        valid_from: fc.constantFrom(null, '2026-11-20T09:59:30Z'),
        checked_at: around(NOW_MS),
      }),
      input.facts.status,
    ),
    balances: answer(fc.constantFrom(...snapshots), input.facts.balances ?? NEVER_CONSUMED),
    spent: answer(fc.boolean(), input.facts.spent),
  };
  return fc.record(arbitraries);
};

const answer = <T, A>(content: fc.Arbitrary<T>, honest: A): fc.Arbitrary<A> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(honest) },
    { weight: 3, arbitrary: content.map((value) => ({ found: value }) as A) },
    { weight: 1, arbitrary: fc.constantFrom('absent' as A, 'unavailable' as A) },
  );

const documentOf = ({ facts: { document } }: EvaluateInput): string =>
  typeof document === 'string' ? '{}' : document.found.document;
const allocationAgentOf = ({ facts: { allocation } }: EvaluateInput): string =>
  typeof allocation === 'string' ? '' : allocation.found.agent;

/** Parts of different vectors mixed, with facts of every kind. */
const anyInput: fc.Arbitrary<EvaluateInput> = fc
  .record({
    first: fc.oneof(fc.constant(base), fc.constantFrom(...inputs)),
    second: fc.oneof(fc.constant(base), fc.constantFrom(...inputs)),
    third: fc.oneof(fc.constant(base), fc.constantFrom(...inputs)),
  })
  .chain(({ first, second, third }) =>
    factsAround(first).map((facts) => ({
      ...first,
      proof: second.proof,
      action: third.action,
      facts,
    })),
  );

/** The checks that the profile of a Receipt runs. */
const checksOf = ({ protocol }: ReceiptBody) => PROFILES[protocol.profile].checks;

const RUNS = { numRuns: sampled({ quick: 120, deep: 3_000 }) };
const holdsFor = (law: (body: ReceiptBody, input: EvaluateInput) => void): void => {
  fc.assert(
    fc.property(anyInput, (input) => law(evaluateJson(input, crypto), input)),
    RUNS,
  );
};

describe('the evaluator', () => {
  it('skips a check if a requirement is not true, and denies if it skips any other check', () => {
    holdsFor((body) => {
      for (const { id, requires } of checksOf(body)) {
        const ready = requires.every((required) => outcomeOf(body, required) === true);
        if (!ready) expect(outcomeOf(body, id)).toBe('skipped');
        else if (outcomeOf(body, id) === 'skipped') expect(body.decision).toBe('DENY');
      }
    });
  });

  it('gives a reason of the first failed check, or SERVICE_UNAVAILABLE if a check before it was unavailable', () => {
    holdsFor((body) => {
      const decisive = checksOf(body).find(({ id, requires }) => {
        const outcome = outcomeOf(body, id);
        const ready = requires.every((required) => outcomeOf(body, required) === true);
        return outcome === false || (outcome === 'skipped' && ready);
      });
      if (decisive === undefined) expect(body.reason).toBeNull();
      else if (outcomeOf(body, decisive.id) === false) expect(decisive.reasons).toContain(body.reason);
      else expect(body.reason).toBe('SERVICE_UNAVAILABLE');
    });
  });

  it('allows exactly when all checks of the profile are true', () => {
    const seen = new Set<string>();
    holdsFor((body) => {
      const outcomes = checksOf(body).map(({ id }) => outcomeOf(body, id));
      expect(body.decision === 'ALLOW').toBe(outcomes.every((outcome) => outcome === true));
      expect(body.reason === null).toBe(body.decision === 'ALLOW');
      seen.add(body.decision);
    });
    expect(seen).toEqual(new Set(['ALLOW', 'DENY']));
  });

  it('names exactly the checks of the profile', () => {
    holdsFor((body) => {
      const named = [...Object.keys(body.protocol.checks), ...Object.keys(body.trust.checks)];
      expect(named.sort()).toEqual(
        checksOf(body)
          .map(({ id }) => id)
          .sort(),
      );
    });
  });

  it('gives the result PASS for a group exactly when all its checks are true', () => {
    holdsFor(({ protocol, trust }) => {
      for (const group of [protocol, trust])
        expect(group.result === 'PASS').toBe(
          Object.values(group.checks).every((outcome) => outcome === true),
        );
    });
  });

  it('denies when any required fact is unavailable or absent', () => {
    const names = ['principal', 'document', 'allocation', 'status', 'spent'];
    const allowed = readEvaluateVectors().filter(({ expected }) => expected.decision === 'ALLOW');
    fc.assert(
      fc.property(
        fc.constantFrom(...allowed),
        fc.nat(),
        fc.constantFrom('unavailable', 'absent'),
        ({ input, expected }, pick, no) => {
          const needed = expected.body.evidence.consumption === undefined ? names : [...names, 'balances'];
          const name = needed[pick % needed.length] ?? 'spent';
          const body = evaluateJson({ ...input, facts: { ...input.facts, [name]: no } }, crypto);
          expect(body.decision).toBe('DENY');
          if (no === 'unavailable') expect(body.reason).toBe('SERVICE_UNAVAILABLE');
        },
      ),
      { numRuns: sampled({ quick: 300, deep: 1_000 }) },
    );
  });

  it("includes members taken from a token in the body exactly when the token's signature has verified", () => {
    holdsFor((body) => {
      const grantProven = outcomeOf(body, 'P3') === true;
      for (const member of ['principal', 'grant_id', 'expires_at', 'authority'])
        expect(Object.hasOwn(body, member)).toBe(grantProven);
      expect(Object.hasOwn(body, 'agent')).toBe(outcomeOf(body, 'P9') === true);
      expect(Object.hasOwn(body, 'request_hash')).toBe(
        outcomeOf(body, 'P9') === true && outcomeOf(body, 'P15') === true,
      );
      if (grantProven && body.decision === 'DENY') expect(body.authority).toBeNull();
    });
  });

  it('writes the members of the body in RFC 8785 order', () => {
    holdsFor((body) => {
      expect(JSON.stringify(body)).toBe(jcs(body as unknown as JsonObject));
    });
  });

  it('gives equal results for equal inputs', () => {
    holdsFor((body, input) => {
      const copy = JSON.parse(JSON.stringify(input)) as EvaluateInput;
      expect(evaluateJson(copy, crypto)).toEqual(body);
    });
  });

  it('does not change its input', () => {
    holdsFor((_, input) => {
      const before = JSON.stringify(input);
      evaluateJson(input, crypto);
      expect(JSON.stringify(input)).toBe(before);
    });
  });
});

describe('look-ups of facts', () => {
  // A budget makes P19 request balances.
  const { input } = getVector('v2-total-exactly');
  const presented = parsePresented(input);
  const facts: FoundFacts = {
    ...factsOf(input, crypto),
    // A retired key makes P2 request the allocation too.
    principal: found({ verification: 'verified', key: { state: 'retired', sinceMs: NOW_MS } }),
  };
  const context = contextOf(input, crypto);
  const names = ['principal', 'document', 'allocation', 'status', 'balances', 'spent'] as const;

  it('are complete with all six facts: the evaluation then decides ALLOW', () => {
    expect(evaluate(presented, facts, context)).toMatchObject({ kind: 'decided', decision: 'ALLOW' });
  });

  it.each(names)('are requested if %s is missing, and the evaluation requests no other fact', (name) => {
    const { [name]: _, ...rest } = facts;
    const result = evaluate(presented, rest, context);
    const planned = planLookups(presented).find(({ fact }) => fact === name);
    expect(planned).toBeDefined();
    expect(result).toMatchObject({ kind: 'undecided' });
    for (const lookup of result.kind === 'undecided' ? result.lookups : []) expect(lookup).toEqual(planned);
  });

  it('include the allocation of a Grant whose key is not retired', () => {
    const { principal } = factsOf(input, crypto);
    const { allocation: _, ...rest } = { ...facts, principal };
    const lookups = planLookups(presented).filter(({ fact }) => fact === 'allocation');
    expect(evaluate(presented, rest, context)).toEqual({ kind: 'undecided', lookups });
  });

  it('of an allocation that is unavailable give SERVICE_UNAVAILABLE under a retired key, before later failures', () => {
    const malformed = parsePresented({ ...input, proof: '' });
    expect(evaluate(malformed, { ...facts, allocation: unavailable }, context)).toMatchObject({
      reason: 'SERVICE_UNAVAILABLE',
      outcomes: { P2: 'skipped', P8: false },
    });
  });

  it.each(names)('lead to DENY if %s is absent or unavailable', (name) => {
    for (const no of [absent, unavailable])
      expect(evaluate(presented, { ...facts, [name]: no }, context)).toMatchObject({ decision: 'DENY' });
  });

  it('end in ALLOW when each requested fact is supplied in turn', () => {
    const known: Partial<Record<(typeof names)[number], unknown>> = {};
    for (let round = 0; round <= names.length; round++) {
      const result = evaluate(presented, known as Facts, context);
      if (result.kind === 'decided') {
        expect(result.decision).toBe('ALLOW');
        return;
      }
      for (const { fact } of result.lookups) known[fact] = facts[fact];
    }
    throw new Error('the look-ups never end');
  });

  it('are all planned from the tokens alone', () => {
    const { grant, proof } = presented;
    if (!grant.ok || !proof.ok) throw new Error('the vector is an ALLOW');
    const { issuer, kid, id, status } = grant.value;
    const planned: readonly Lookup[] = [
      { fact: 'principal', did: issuer, kid },
      { fact: 'document', did: issuer },
      { fact: 'allocation', grantId: id },
      { fact: 'status', credentialUrl: status.statusListCredential, index: status.statusListIndex },
      { fact: 'balances', grantId: id },
      { fact: 'spent', grantId: id, jti: proof.value.jti },
    ];
    expect(planLookups(presented)).toEqual(planned);
    expect(evaluate(presented, {}, context)).toEqual({ kind: 'undecided', lookups: [planned[0]] });
    const malformedGrant = parsePresented({ ...input, grant: '' });
    expect(planLookups(malformedGrant)).toEqual([]);
    const malformedProof = parsePresented({ ...input, proof: '' });
    expect(planLookups(malformedProof)).toEqual(planned.filter(({ fact }) => fact !== 'spent'));
  });

  it('include balances if only some of the Capabilities have a budget', () => {
    const { grant } = presented;
    const { grant: plain } = parsePresented(base);
    if (!grant.ok || !plain.ok) throw new Error('the vectors are ALLOWs');
    const capabilities = [...plain.value.capabilities, ...grant.value.capabilities];
    const mixed = { ...presented, grant: { ...grant, value: { ...grant.value, capabilities } } };
    expect(planLookups(mixed)).toEqual(planLookups(presented));
  });

  it('do not include balances if no Capability has a budget', () => {
    const planned = planLookups(parsePresented(base));
    expect(planned.map(({ fact }) => fact)).toEqual(names.filter((name) => name !== 'balances'));
  });
});
