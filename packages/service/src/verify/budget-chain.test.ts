/**
 * A decision on budgets is made after the wait for the Grant's lock, and is dated after that wait (protocol §7, §11).
 */
import { readFileSync } from 'node:fs';
import {
  type DidKey,
  type DidWeb,
  type EvaluateInput,
  type Facts,
  found,
  parseDidDocument,
  parsePresented,
  parseSnapshot,
  type Sha256,
  unavailable,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { buildChain, type Contender } from './budget-chain.ts';
import { evaluateBeforeBalances, type Grounds } from './evaluate.ts';

const vector = new URL('../../../../vectors/evaluate/v2-uses-last.json', import.meta.url);
const input: EvaluateInput = JSON.parse(readFileSync(vector, 'utf8')).input;
const presented = parsePresented(input);
const BEGAN_MS = Date.parse(input.now);
const SHOP = input.relying_party.did as DidWeb;

const factOf = <T>(fact: { readonly found: T } | string | undefined): T =>
  typeof fact === 'object' ? fact.found : expect.unreachable('the vector has every fact');

const loadedFacts = (): Facts => {
  const { principal, document, allocation, status } = input.facts;
  const { document: text, resolved_at } = factOf(document);
  const parsed = parseDidDocument(text, 'did:web:acme.example' as DidWeb);
  const { verification, key } = factOf(principal);
  const allocated = factOf(allocation);
  const listed = factOf(status);
  return {
    principal: found({ verification, key: key && { state: key.state, sinceMs: Date.parse(key.since) } }),
    document:
      parsed === null
        ? unavailable
        : found({
            document: parsed,
            hash: `sha256:${'a'.repeat(64)}` as Sha256,
            resolvedAtMs: Date.parse(resolved_at),
          }),
    allocation: found({
      issuer: allocated.issuer as DidWeb,
      agent: allocated.agent as DidKey,
      statusListCredential: allocated.status_list_credential,
      statusListIndex: allocated.status_list_index,
      allocatedAtMs: Date.parse(allocated.allocated_at),
      grantHash: null,
    }),
    status: found({
      revoked: listed.revoked,
      credentialHash: listed.credential_hash as Sha256,
      validFrom: listed.valid_from,
      checkedAtMs: Date.parse(listed.checked_at),
    }),
    spent: found(false),
  };
};

const groundsOf = (proofWindowSeconds: number): Grounds => {
  const relyingParty = { did: SHOP, profile: 'svc-base-v2', proofWindowSeconds, version: 1 };
  const caller = { subject: SHOP, relyingParty, key: { keyHash: '', keyId: '' }, isPaused: false };
  const call = {
    ...{ request: input, presented, idempotency: null, crypto: nativeCrypto },
    answerByMs: Number.POSITIVE_INFINITY,
  };
  const loaded = { facts: loadedFacts(), usedPrincipal: null, isWithheld: false };
  return {
    call,
    entitled: { caller, productionCheck: null, namesSandbox: false },
    loaded,
  } as unknown as Grounds;
};

it('a Proof that expires during the wait for the lock is denied with PROOF_EXPIRED, and balances are not evaluated', async () => {
  const grounds = groundsOf(5);
  const begun = evaluateBeforeBalances(BEGAN_MS, grounds);
  if (begun.kind !== 'on balances') return expect.unreachable(`decided before: ${begun.reason}`);
  const balances = parseSnapshot(factOf(input.facts.balances)) ?? expect.unreachable('no balances');
  const chainAt = async (nowMs: number) => {
    const deps = {
      clock: { nowMs: () => nowMs },
      random: { bytes: (length: number) => new Uint8Array(length) },
      identity: {
        receiptKeys: { signer: { kid: 'did:web:svc.example#receipt-1', sign: () => new Uint8Array(64) } },
      },
    } as unknown as ServiceDeps;
    const contender: Contender = { grounds, grantId: begun.grantId, jti: 'jti' };
    const { links } = await buildChain(deps, [[contender, { balances, isSpent: false }]]);
    return links[0] ?? expect.unreachable('no decision');
  };

  const inTime = await chainAt(BEGAN_MS);
  expect(inTime.commit).toMatchObject({ decision: 'ALLOW', budget: { balances } });
  const late = await chainAt(BEGAN_MS + 15_000);
  expect(late.commit).toMatchObject({ decision: 'DENY', reason: 'PROOF_EXPIRED', budget: null });
  expect(JSON.parse(late.answer.text).protocol.checks).toMatchObject({
    P18: true,
    P19: 'skipped',
    P20: 'skipped',
  });
});
