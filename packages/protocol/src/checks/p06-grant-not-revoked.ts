/**
 * P6: the service allocated the Grant's id to this issuer, no other Grant was first allowed under that id, and the
 * Grant has not been revoked (protocol §7, §9). The status list is consulted only for a Grant that matches its
 * allocation.
 */
import { sha256Of } from '@svc/codec';
import type { AllocationFact, Facts } from '../facts.ts';
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
import { type Comparison, type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const p06GrantNotRevoked = /* @__PURE__ */ defineCheck({
  id: 'P6',
  title:
    'the Grant is as the service allocated it, no other was allowed under its id, and its bit in the current status list is 0',
  cites: ['interface §Grant allocation, status entry, summary', 'protocol §7', 'protocol §9'],
  requires: [p03GrantSignature],
  reasons: ['AUTHORITY_REVOKED'],
  run: ({ P3: { grant } }, context) => {
    const { allocation } = context.facts;
    if (allocation === undefined) return need({ fact: 'allocation', grantId: grant.id });
    if (allocation.answer === 'unavailable') return unavailableNow();
    if (allocation.answer === 'absent') return deny('AUTHORITY_REVOKED');
    if (!matches(grant, allocation.value) || !isTheOne(grant, allocation.value, context))
      return deny('AUTHORITY_REVOKED');
    return bitIsClear(grant, context);
  },
});

export const p06Explained: ExplanationOf<typeof p06GrantNotRevoked> = {
  compare: ({ P3: { grant } }, context) => compareAllocation(grant, context),
  remedy: ({ P3: { grant } }, { facts }) => REMEDY_IF[isPaused(grant, facts) ? 'paused' : 'notPaused'],
};

const matches = ({ issuer, agent, status }: Grant, allocated: AllocationFact): boolean =>
  issuer === allocated.issuer &&
  agent === allocated.agent &&
  status.statusListCredential === allocated.statusListCredential &&
  status.statusListIndex === allocated.statusListIndex &&
  status.id === `${allocated.statusListCredential}#${allocated.statusListIndex}`;

/**
 * One id stands for one Grant: a holder of a signing key must not sign a wider Grant under the id of a Grant that was
 * revoked, spent from or reviewed.
 */
const isTheOne = ({ jws }: Grant, { grantHash }: AllocationFact, { crypto }: CheckContext): boolean =>
  grantHash === null || grantHash === sha256Of(crypto, jws);

const bitIsClear = ({ status: entry }: Grant, { facts, nowMs, trust }: CheckContext): CheckResult<null> => {
  const { status } = facts;
  const credentialUrl = entry.statusListCredential;
  const index = entry.statusListIndex;
  if (status === undefined) return need({ fact: 'status', credentialUrl, index });
  if (status.answer !== 'found') return unavailableNow();
  const { credentialHash, validFrom, checkedAtMs, revoked } = status.value;
  if (nowMs - checkedAtMs > trust.statusListMaxAgeSeconds * 1000) return unavailableNow();
  const consulted: Consulted = { status: { credentialUrl, credentialHash, validFrom, checkedAtMs, index } };
  return revoked ? deny('AUTHORITY_REVOKED', consulted) : pass(null, consulted);
};

/** Remedies where it is known whether the Grant is paused. */
export const REMEDY_IF = {
  paused: 'Wait until the Principal resumes it; only then can it be said whether it is also revoked.',
  notPaused: 'The Agent needs another Grant, under an id of its own.',
} as const;

/** Whether the Grant's id was allocated to its issuer and is paused: the allocation then names no status list. */
const isPaused = ({ issuer }: Grant, { allocation }: Facts): boolean =>
  allocation?.answer === 'found' &&
  allocation.value.issuer === issuer &&
  // `''` occurs in no Grant that could have been signed.
  allocation.value.statusListCredential === '';

const compareAllocation = (grant: Grant, { facts, crypto }: CheckContext): readonly Comparison[] => {
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
