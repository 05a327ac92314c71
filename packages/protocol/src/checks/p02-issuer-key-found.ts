/**
 * P2: the `kid` names a usable key of the issuer (protocol §7). The DID document decides which keys exist; the
 * service's own record of the key decides whether the key was retired before this Grant.
 */
import { formatTimestamp } from '@svc/codec';
import type { PrincipalFact } from '../facts.ts';
import type { Grant } from '../model/grant.ts';
import {
  type CheckContext,
  type CheckResult,
  type Consulted,
  defineCheck,
  deny,
  need,
  pass,
  unavailableNow,
} from './check.ts';
import { type ExplanationOf, one, shown } from './explained.ts';
import { p01GrantWellFormed } from './p01-grant-well-formed.ts';
import { t01IssuerRegistered } from './t01-issuer-registered.ts';
import { t03KeyNotCompromised } from './t03-key-not-compromised.ts';

export const p02IssuerKeyFound = /* @__PURE__ */ defineCheck({
  id: 'P2',
  title:
    "the kid is a usable Ed25519 key in the issuer's DID document, under assertionMethod, not retired before the Grant was allocated or becomes valid",
  cites: ['interface §Key states', 'protocol §7', 'RFC 8037 §2'],
  requires: [p01GrantWellFormed, t01IssuerRegistered, t03KeyNotCompromised],
  reasons: ['ISSUER_KEY_NOT_FOUND'],
  run: ({ P1: { grant }, T1 }, context) => {
    const { document } = context.facts;
    if (document === undefined) return need({ fact: 'document', did: grant.issuer });
    if (document.answer === 'unavailable') return unavailableNow();
    if (document.answer === 'absent') return deny('ISSUER_KEY_NOT_FOUND');
    const { hash, resolvedAtMs } = document.value;
    if (context.nowMs - resolvedAtMs > context.trust.didDocumentMaxAgeSeconds * 1000) return unavailableNow();
    const consulted: Consulted = { issuerResolution: { did: grant.issuer, hash, resolvedAtMs } };
    const publicKey = usableKey(grant, document.value.document, context);
    if (publicKey === null) return deny('ISSUER_KEY_NOT_FOUND', consulted);
    if (T1.key?.state !== 'retired') return pass({ grant, publicKey }, consulted);
    return retiredKey(grant, publicKey, T1.key.sinceMs, context, consulted);
  },
});

export const p02Explained: ExplanationOf<typeof p02IssuerKeyFound> = {
  compare: ({ P1: { grant }, T1 }, context) =>
    one('kid of the Grant', grant.kid, usableKeyOf(grant, T1.key, context)),
};

/** The Grant is still unauthenticated. */
export interface KeyFound {
  readonly grant: Grant;
  readonly publicKey: Uint8Array;
}

type Document = Extract<
  NonNullable<CheckContext['facts']['document']>,
  { answer: 'found' }
>['value']['document'];

const usableKey = (grant: Grant, document: Document, { crypto, nowMs }: CheckContext): Uint8Array | null => {
  if (document.id !== grant.issuer || !grant.kid.startsWith(`${grant.issuer}#`)) return null;
  const key = document.assertionKeys.get(grant.kid);
  const endedFromMs = document.endedFromMs.get(grant.kid);
  if (endedFromMs !== undefined && nowMs >= endedFromMs) return null;
  return key !== undefined && crypto.isStrictKey(key) ? key : null;
};

const retiredKey = (
  grant: Grant,
  publicKey: Uint8Array,
  retiredAtMs: number,
  { facts: { allocation } }: CheckContext,
  consulted: Consulted,
): CheckResult<KeyFound> => {
  // The holder of a retired key can still sign with it. Such a Grant must not begin after the retirement.
  if (grant.validFromMs > retiredAtMs) return deny('ISSUER_KEY_NOT_FOUND', consulted);
  if (allocation === undefined) return need({ fact: 'allocation', grantId: grant.id });
  if (allocation.answer === 'unavailable') return unavailableNow(consulted);
  const allocatedInTime = allocation.answer === 'found' && allocation.value.allocatedAtMs <= retiredAtMs;
  return allocatedInTime ? pass({ grant, publicKey }, consulted) : deny('ISSUER_KEY_NOT_FOUND', consulted);
};

/** What would be a usable key, told by the first condition that the key does not meet. */
const usableKeyOf = (
  { issuer, kid }: Grant,
  known: PrincipalFact['key'],
  { facts: { document }, nowMs }: CheckContext,
): string => {
  if (document?.answer !== 'found') return `a key in the DID document of ${issuer}`;
  const { assertionKeys, endedFromMs } = document.value.document;
  const endedMs = endedFromMs.get(kid);
  if (!assertionKeys.has(kid)) return shown([...assertionKeys.keys()]);
  if (endedMs !== undefined && endedMs <= nowMs)
    return `a key that had not ended at ${formatTimestamp(endedMs)}`;
  return known?.state === 'retired'
    ? `a key not retired before the Grant was allocated and begins (${formatTimestamp(known.sinceMs)})`
    : 'a strict Ed25519 key of the issuer';
};
