/**
 * The checks in pipeline order (protocol §7). The order decides the reason of a DENY. A check requires only checks
 * before it.
 */
import type { ProfileId } from '../profiles/profile.ts';
import type { Check, EvidenceOf } from './check.ts';
import type { Explained, ExplainedPerCapability } from './explained.ts';
import { p01Explained, p01GrantWellFormed } from './p01-grant-well-formed.ts';
import { p02Explained, p02IssuerKeyFound } from './p02-issuer-key-found.ts';
import { p03Explained, p03GrantSignature } from './p03-grant-signature.ts';
import { p04Explained, p04GrantBegun } from './p04-grant-begun.ts';
import { p05Explained, p05GrantNotExpired } from './p05-grant-not-expired.ts';
import { p06Explained, p06GrantNotRevoked } from './p06-grant-not-revoked.ts';
import { p07Audience, p07Explained } from './p07-audience.ts';
import { p08Explained, p08ProofWellFormed } from './p08-proof-well-formed.ts';
import { p09Explained, p09ProofSignature } from './p09-proof-signature.ts';
import { p10Explained, p10ProofAgent } from './p10-proof-agent.ts';
import { p11Explained, p11ProofGrant } from './p11-proof-grant.ts';
import { p12Explained, p12ProofAudience } from './p12-proof-audience.ts';
import { p13Explained, p13ProofFresh } from './p13-proof-fresh.ts';
import { p14Explained, p14ProofAction } from './p14-proof-action.ts';
import { p15ActionWellFormed, p15Explained } from './p15-action-well-formed.ts';
import { p16ActionAuthorized, p16Explained } from './p16-action-authorized.ts';
import { p17ConstraintsKnown, p17Explained } from './p17-constraints-known.ts';
import { p18CurrencyAuthorized, p18Explained } from './p18-currency-authorized.ts';
import { p19AmountAuthorized, p19Explained } from './p19-amount-authorized.ts';
import { p20Explained, p20ResourceAuthorized } from './p20-resource-authorized.ts';
import { t01Explained, t01IssuerRegistered } from './t01-issuer-registered.ts';
import { t02Explained, t02IssuerVerified } from './t02-issuer-verified.ts';
import { t03Explained, t03KeyNotCompromised } from './t03-key-not-compromised.ts';
import { t05Explained, t05ProofUnspent } from './t05-proof-unspent.ts';

/** Every check of any profile, except the last. */
const BEFORE_SPENDING = [
  p01GrantWellFormed,
  t01IssuerRegistered,
  t02IssuerVerified,
  t03KeyNotCompromised,
  p02IssuerKeyFound,
  p03GrantSignature,
  p04GrantBegun,
  p05GrantNotExpired,
  p06GrantNotRevoked,
  p07Audience,
  p08ProofWellFormed,
  p09ProofSignature,
  p10ProofAgent,
  p11ProofGrant,
  p12ProofAudience,
  p13ProofFresh,
  p15ActionWellFormed,
  p14ProofAction,
  p16ActionAuthorized,
  p17ConstraintsKnown,
  p18CurrencyAuthorized,
  p19AmountAuthorized,
  p20ResourceAuthorized,
] as const;

type Pipeline = readonly [...typeof BEFORE_SPENDING, typeof t05ProofUnspent];

/** The id of a check, such as `P14` or `T5` (protocol §7). */
export type CheckId = Pipeline[number]['id'];
/** A check of what the Principal and the Agent signed. */
export type ProtocolCheckId = Extract<CheckId, `P${string}`>;
/** A check against the service's own records. */
export type TrustCheckId = Extract<CheckId, `T${string}`>;

/** What each check proves, by id. */
export type Evidence = EvidenceOf<Pipeline[number]>;

/**
 * A check as the runner sees it. The types that tie evidence to requirements have been checked by then and are dropped.
 */
export interface AnyCheck extends Check<CheckId, unknown> {
  readonly requires: readonly CheckId[];
}

/** T5 is the last check and requires every check above it: only an ALLOW spends a Proof. */
const endingWithSpending = (before: readonly Check<CheckId, unknown>[]): readonly AnyCheck[] =>
  [...before, { ...t05ProofUnspent, requires: before.map(({ id }) => id) }] as readonly AnyCheck[];

/** Every check of any profile in the order in which they run, which decides the reason of a DENY. */
export const CHECKS: readonly AnyCheck[] = /* @__PURE__ */ endingWithSpending(BEFORE_SPENDING);

/** The checks that a profile runs, in this order. `before`: every check except T5, which every profile runs last. */
export const checksOf = (
  profile: ProfileId,
  before: readonly Check<CheckId, unknown>[] = BEFORE_SPENDING,
): readonly AnyCheck[] =>
  endingWithSpending(before.filter(({ profiles }) => profiles === null || profiles.includes(profile)));

/** The ids of all checks, in the order in which they run. */
export const CHECK_IDS: readonly CheckId[] = /* @__PURE__ */ CHECKS.map(({ id }) => id);

/** Whether this is a check of what the Principal and the Agent signed. */
export const isProtocolCheck = (id: CheckId): id is ProtocolCheckId => id.startsWith('P');
/** Whether this is a check against the service's own records. */
export const isTrustCheck = (id: CheckId): id is TrustCheckId => id.startsWith('T');

/** How the failure of each check is explained. Apart from the checks, so that only explanations load it. */
export const EXPLAINED: Readonly<Record<CheckId, Explained | ExplainedPerCapability>> = {
  P1: p01Explained,
  T1: t01Explained,
  T2: t02Explained,
  T3: t03Explained,
  P2: p02Explained,
  P3: p03Explained,
  P4: p04Explained,
  P5: p05Explained,
  P6: p06Explained,
  P7: p07Explained,
  P8: p08Explained,
  P9: p09Explained,
  P10: p10Explained,
  P11: p11Explained,
  P12: p12Explained,
  P13: p13Explained,
  P15: p15Explained,
  P14: p14Explained,
  P16: p16Explained,
  P17: p17Explained,
  P18: p18Explained,
  P19: p19Explained,
  P20: p20Explained,
  T5: t05Explained,
};
