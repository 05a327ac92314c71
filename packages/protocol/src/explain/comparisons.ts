/**
 * For each check that failed, what it compared with what (protocol §7). Facts about other Principals are not shown: an
 * id that was allocated to another Principal is reported as such, without that Principal's name.
 */
import { formatTimestamp, normalizeHtu, sha256Of } from '@svc/codec';
import type { CheckContext } from '../checks/check.ts';
import type { CheckId, Evidence } from '../checks/table.ts';
import type { Action } from '../model/action.ts';
import type { Grant } from '../model/grant.ts';
import { type Comparison, type NarrowingCheck, shown } from './capability-fit.ts';

/** `proven`: the evidence of the checks that the failed one requires. */
type Compare = (proven: Evidence, context: CheckContext) => readonly Comparison[];

/** By the check that failed. The narrowing checks are not in it: they are compared for each Capability. */
export const COMPARISONS: Readonly<Record<Exclude<CheckId, NarrowingCheck>, Compare>> = {
  P1: (_, { presented: { grant }, profile }) =>
    form('Grant', (profile.budgets ? grant.budgetProblem : null) ?? problemOf(grant)),
  T1: ({ P1: { grant } }) => one('issuer', grant.issuer, 'a Principal that is registered with this service'),
  T2: ({ T1 }) => one('verification of the issuer', T1.verification, 'verified'),
  T3: ({ P1: { grant } }) => one('kid of the Grant', grant.kid, 'a key that is not marked compromised'),
  P2: ({ P1: { grant }, T1 }, context) => [keyComparison(grant, T1.key, context)],
  P3: ({ P2: { grant } }) => one('signature of the Grant', 'does not verify', `a signature by ${grant.kid}`),
  P4: ({ P3: { grant } }, { nowMs }) =>
    one('validFrom', grant.validFrom, `not after ${formatTimestamp(nowMs)}`),
  P5: ({ P3: { grant } }, { nowMs }) =>
    one('validUntil', grant.validUntil, `after ${formatTimestamp(nowMs)}`),
  P6: ({ P3: { grant } }, context) => allocationComparisons(grant, context),
  P7: ({ P3: { grant } }, { relyingParty }) => one('audience', grant.audience, relyingParty.did),
  P8: (_, { presented: { proof } }) => form('Proof', problemOf(proof)),
  P9: ({ P8: { proof } }) =>
    one('signature of the Proof', 'does not verify', `a signature by ${proof.agent}`),
  P10: ({ P3: { grant }, P9: { proof } }) => one('iss of the Proof', proof.agent, grant.agent),
  P11: ({ P3: { grant }, P9: { proof } }) => one('grant_id of the Proof', proof.grantId, grant.id),
  P12: ({ P9: { proof } }, { relyingParty }) => one('aud of the Proof', proof.audience, relyingParty.did),
  P13: ({ P9: { proof } }, { nowMs, relyingParty, trust }) => {
    const after = (seconds: number) => formatTimestamp(nowMs + seconds * 1000);
    const [earliest, latest] = [after(-relyingParty.proofWindowSeconds), after(trust.clockSkewSeconds)];
    return one('iat of the Proof', timeOf(proof.iatSeconds), `${earliest} to ${latest}`);
  },
  P14: ({ P9: { proof }, P15: { action } }) => [
    ...actionComparisons(proof.action, action),
    ...(action.type === 'api:call' ? requestComparisons(proof, action) : []),
  ],
  P15: (_, { presented: { action } }) => form('Action', problemOf(action)),
  T5: ({ P9: { proof } }) => one('jti of the Proof', proof.jti, 'one that no ALLOW has spent'),
};

const one = (what: string, found: unknown, expected: unknown): Comparison[] => [
  { what, found: shown(found), expected: shown(expected) },
];

/**
 * `problem`: either a rule that was broken, in the form "X must be Y", followed by "; " and the actual value if that is
 * known; or another fault.
 */
const form = (what: string, problem: string): Comparison[] => {
  const [rule = '', instead = 'something else'] = problem.split('; ');
  return rule.includes(' must ') ? one(what, instead, rule) : one(what, problem, 'no such fault');
};

/** The last second that `formatTimestamp` can write. */
const LAST_SECOND = 253_402_300_799;

/**
 * A signed `iat` may be any integer. One outside the range of `formatTimestamp`, such as milliseconds, is shown
 * unchanged.
 */
const timeOf = (seconds: number): string =>
  seconds >= 0 && seconds <= LAST_SECOND ? formatTimestamp(seconds * 1000) : String(seconds);

const problemOf = (
  parsed: { readonly ok: true } | { readonly ok: false; readonly problem: string },
): string => (parsed.ok ? '' : parsed.problem);

const keyComparison = (
  { issuer, kid }: Grant,
  known: Evidence['T1']['key'],
  { facts: { document }, nowMs }: CheckContext,
): Comparison => {
  const what = 'kid of the Grant';
  if (document?.answer !== 'found')
    return { what, found: kid, expected: `a key in the DID document of ${issuer}` };
  const { assertionKeys, endedFromMs } = document.value.document;
  const endedMs = endedFromMs.get(kid);
  if (!assertionKeys.has(kid)) return { what, found: kid, expected: shown([...assertionKeys.keys()]) };
  if (endedMs !== undefined && endedMs <= nowMs)
    return { what, found: kid, expected: `a key that had not ended at ${formatTimestamp(endedMs)}` };
  if (known?.state === 'retired')
    return {
      what,
      found: kid,
      expected: `a key not retired before the Grant was allocated and begins (${formatTimestamp(known.sinceMs)})`,
    };
  return { what, found: kid, expected: 'a strict Ed25519 key of the issuer' };
};

/** Whether the Grant's id was allocated to its issuer and is paused: the allocation then names no status list. */
export const isPaused = ({ issuer }: Grant, { allocation }: CheckContext['facts']): boolean =>
  allocation?.answer === 'found' &&
  allocation.value.issuer === issuer &&
  // `''` occurs in no Grant that could have been signed.
  allocation.value.statusListCredential === '';

const allocationComparisons = (grant: Grant, { facts, crypto }: CheckContext): Comparison[] => {
  const { allocation, status } = facts;
  if (allocation?.answer !== 'found') return one('id', grant.id, 'an id that holds at this service');
  const { issuer, agent, statusListCredential, statusListIndex, grantHash } = allocation.value;
  // A Grant of another Principal is compared no further: neither equal members nor a pause is shown.
  if (issuer !== grant.issuer) return one('issuer', grant.issuer, 'as the service allocated it');
  if (isPaused(grant, facts)) return one('state of the Grant', 'paused', 'active');
  // Revoked, but not yet in its status list. `''` occurs in no Grant that could have been signed.
  if (statusListIndex === '') return one('state of the Grant', 'revoked', 'active');
  const pairs = [
    ['credentialSubject.id', grant.agent, agent],
    ['credentialStatus.statusListCredential', grant.status.statusListCredential, statusListCredential],
    ['credentialStatus.statusListIndex', grant.status.statusListIndex, statusListIndex],
    ['credentialStatus.id', grant.status.id, `${statusListCredential}#${statusListIndex}`],
  ] as const;
  const different = pairs.filter(([, found, allocated]) => found !== allocated);
  if (different.length > 0)
    return different.flatMap(([what, found]) => one(what, found, 'as the service allocated it'));
  const hash = sha256Of(crypto, grant.jws);
  if (grantHash !== null && grantHash !== hash)
    return one('hash of the Grant', hash, 'that of the Grant that was first allowed under this id');
  const isRevoked = status?.answer === 'found' && status.value.revoked;
  return one('status bit', isRevoked ? 1 : null, 0);
};

const actionComparisons = (signed: Action, asked: Action): Comparison[] => {
  const [ofProof, ofAction] = [new Map(Object.entries(signed)), new Map(Object.entries(asked))];
  const names = [...new Set([...ofProof.keys(), ...ofAction.keys()])].sort();
  return names
    .filter((name) => ofProof.get(name) !== ofAction.get(name))
    .flatMap((name) =>
      one(`action.${name} of the Proof`, ofProof.get(name) ?? null, ofAction.get(name) ?? null),
    );
};

const requestComparisons = (
  { htm, normalizedHtu }: Evidence['P9']['proof'],
  { method, resource }: Extract<Action, { type: 'api:call' }>,
): Comparison[] => [
  ...(htm === method ? [] : one('htm of the Proof', htm, method)),
  ...(normalizedHtu === normalizeHtu(resource) ? [] : one('htu of the Proof', normalizedHtu, resource)),
];
