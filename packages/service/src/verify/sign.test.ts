import type { CheckId, Decided, ReceiptId, Sha256 } from '@svc/protocol';
import { CHECK_IDS, found } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { Grounds } from './evaluate.ts';
import { buildDecisionCommit } from './sign.ts';

const IAT_SECONDS = 1_800_000_000;
const grant = { id: 'urn:svc:grant:01KAG1E6R0ABCDEFGHJKMNPQRS', issuer: 'did:web:acme.example' };
const proof = { agent: 'did:key:z6Mk', iatSeconds: IAT_SECONDS, jti: 'a'.repeat(22) };

const GRANT_HASH = `sha256:${'a'.repeat(64)}` as Sha256;

const commitOf = (
  decision: 'ALLOW' | 'DENY',
  failed: readonly CheckId[] = [],
  { bound = null, windowSeconds = 60 }: { bound?: Sha256 | null; windowSeconds?: number } = {},
) => {
  const outcomes = Object.fromEntries(CHECK_IDS.map((id) => [id, !failed.includes(id)]));
  const decided = {
    decision,
    reason: null,
    outcomes,
    evidence: { P3: { grant }, P9: { proof } },
    consulted: {},
    consumption: null,
  };
  const caller = {
    subject: 'did:web:shop.example',
    relyingParty: { version: 1, profile: 'svc-base-v1', proofWindowSeconds: windowSeconds },
    key: { keyHash: '', keyId: '' },
  };
  const grounds = {
    call: { idempotency: null },
    entitled: { caller, productionCheck: null },
    loaded: { usedPrincipal: null, facts: { allocation: found({ grantHash: bound }) } },
  };
  return buildDecisionCommit(grounds as unknown as Grounds, decided as unknown as Decided, {
    receiptId: 'drc_' as ReceiptId,
    jws: '',
    evaluatedAtMs: IAT_SECONDS * 1000,
    grantHash: GRANT_HASH,
  });
};

it.each([1, 300])(
  'a spent Proof is remembered until its iat plus the widest window (300 s) plus the clock skew (5 s), also if the window is now %d s',
  (windowSeconds) => {
    expect(commitOf('ALLOW', [], { windowSeconds }).spend).toEqual({
      grantId: grant.id,
      jti: proof.jti,
      expiresAtMs: (IAT_SECONDS + 300 + 5) * 1000,
    });
  },
);

it('ALLOW and DENY depend on the Grant being in force, unless it was found revoked', () => {
  expect(commitOf('ALLOW').usedGrantId).toBe(grant.id);
  expect(commitOf('DENY', ['P19']).usedGrantId).toBe(grant.id);
  expect(commitOf('DENY', ['P6']).usedGrantId).toBeNull();
});

it('only an ALLOW for an id without a bound Grant binds one', () => {
  expect(commitOf('ALLOW').bindsGrantHash).toBe(GRANT_HASH);
  expect(commitOf('ALLOW', [], { bound: GRANT_HASH }).bindsGrantHash).toBeNull();
  expect(commitOf('DENY', ['P19']).bindsGrantHash).toBeNull();
});

it('only an ALLOW spends a Proof: a DENY spends none, whichever check failed', () => {
  expect(commitOf('ALLOW').spend).not.toBeNull();
  for (const id of CHECK_IDS) expect([id, commitOf('DENY', [id]).spend]).toEqual([id, null]);
});

it.each(['P1', 'T1', 'T3', 'P2', 'P3'] as const)(
  'a decision that ends at %s names no Principal in the ledger',
  (id) => {
    expect(commitOf('DENY', [id]).principal).toBeNull();
  },
);

it('a decision that ends later names the Principal, also one that ends at T2, whose Grant is genuine', () => {
  for (const id of ['P5', 'T2'] as const) expect(commitOf('DENY', [id]).principal).toBe(grant.issuer);
});
