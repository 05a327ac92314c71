/**
 * Facts that only the service knew when it decided: its registry, its allocations, its spent Proofs. An audit assumes
 * what the Receipt states and lists each assumption, so that the reader sees what depends on the service's honesty.
 * Facts that the auditor supplies replace assumptions.
 */
import {
  type AllocationFact,
  type Answer,
  absent,
  type Balances,
  emptyBalances,
  type Facts,
  found,
  type Grant,
  type Presented,
  type PrincipalFact,
  type ReceiptBody,
  unavailable,
} from '@svc/protocol';
import { outcomeOf, pathOf } from '../verify/rules/rule.ts';

/** A statement of the Receipt that the audit could not verify. */
export interface Assumption {
  /** JSON pointer to the member that states it. */
  readonly path: string;
  readonly statement: string;
}

/** Facts from the auditor's own sources. */
export type KnownFacts = Pick<Facts, 'principal' | 'allocation' | 'balances' | 'spent'>;

export interface Assumed {
  readonly facts: KnownFacts;
  readonly assumed: readonly Assumption[];
}

/** Whether the check ran and could not be decided. `id` depends on a look-up and requires only `required`. */
const wasUnavailable = (body: ReceiptBody, id: string, required: readonly string[]): boolean =>
  outcomeOf(body, id) === 'skipped' && required.every((other) => outcomeOf(body, other) === true);

/** Answers every registry look-up from `known`, or else from the Receipt. */
export const assumeFacts = (body: ReceiptBody, { grant }: Presented, known: KnownFacts): Assumed => {
  const assumed: Assumption[] = [];
  const assume = (id: string, statement: string) => void assumed.push({ path: pathOf(id), statement });
  const principal = known.principal ?? assumePrincipal(body, assume);
  const allocation = known.allocation ?? (grant.ok ? assumeAllocation(body, grant.value, assume) : absent);
  const balances = grant.ok ? assumeBalances(body, grant.value, known, assume) : (known.balances ?? absent);
  const spent = known.spent ?? assumeSpent(body, assume);
  assumeCircumstances(body, assumed);
  return { facts: { principal, allocation, balances, spent }, assumed };
};

type Assume = (id: string, statement: string) => void;

const assumePrincipal = (body: ReceiptBody, assume: Assume): Answer<PrincipalFact> => {
  const registered = outcomeOf(body, 'T1');
  if (registered === 'skipped') {
    if (wasUnavailable(body, 'T1', ['P1'])) assume('T1', 'the registry was unavailable');
    return unavailable;
  }
  if (registered === false) {
    assume('T1', 'the issuer was not a registered Principal');
    return absent;
  }
  const verified = outcomeOf(body, 'T2') === true;
  const compromised = outcomeOf(body, 'T3') === false;
  assume('T1', 'the issuer was a registered Principal');
  assume('T2', `the Principal's verification state was ${verified ? 'verified' : 'unverified'}`);
  assume('T3', `the signing key was ${compromised ? '' : 'not '}marked compromised`);
  if (outcomeOf(body, 'P2') === true)
    assume('P2', 'the signing key had not been retired before the Grant was allocated or became valid');
  const key = { state: compromised ? 'compromised' : 'active', sinceMs: 0 } as const;
  return found({ verification: verified ? 'verified' : 'unverified', key });
};

const assumeAllocation = (body: ReceiptBody, grant: Grant, assume: Assume): Answer<AllocationFact> => {
  const outcome = outcomeOf(body, 'P6');
  if (outcome === 'skipped' && outcomeOf(body, 'P3') !== true) return unavailable;
  if (outcome === 'skipped') {
    assume(
      'P6',
      'the allocation or the status list was unavailable, or decisions for this relying party were paused',
    );
    return unavailable;
  }
  if (outcome === false && body.evidence.status === undefined) {
    assume(
      'P6',
      'the service had not allocated this Grant id, or for another issuer, Agent or status entry, or had allowed another Grant under it, or the Grant, its Agent or its Principal was paused, or it was revoked and its list not signed yet',
    );
    return absent;
  }
  assume(
    'P6',
    'the service had allocated the Grant id to this issuer, Agent and status entry, and had allowed no other Grant under it',
  );
  return found({
    issuer: grant.issuer,
    agent: grant.agent,
    statusListCredential: grant.status.statusListCredential,
    statusListIndex: grant.status.statusListIndex,
    allocatedAtMs: 0,
    grantHash: null,
  });
};

/**
 * Not used if the Receipt pins the balances; otherwise see assumed-budgets.ts. The service may have decided without
 * balances where another check denied. The balances that the auditor knows then say nothing about its decision.
 */
const assumeBalances = (
  body: ReceiptBody,
  { id }: Grant,
  known: KnownFacts,
  assume: Assume,
): Answer<Balances> => {
  if (!wasUnavailable(body, 'P19', ['P18'])) return known.balances ?? found(emptyBalances(id));
  assume(
    'P19',
    'what had been consumed of the budgets was unavailable, or not asked for since another check denied',
  );
  return unavailable;
};

const assumeSpent = (body: ReceiptBody, assume: Assume): Answer<boolean> => {
  const unspent = outcomeOf(body, 'T5');
  if (unspent !== 'skipped') {
    assume('T5', `the Proof had ${unspent ? 'not ' : ''}been spent before`);
    return found(!unspent);
  }
  if (
    body.reason === 'SERVICE_UNAVAILABLE' &&
    body.protocol.result === 'PASS' &&
    outcomeOf(body, 'T2') === true
  )
    assume('T5', 'the record of spent Proofs was unavailable');
  return unavailable;
};

const assumeCircumstances = (body: ReceiptBody, assumed: Assumption[]): void => {
  assumed.push(
    { path: '/evaluated_at', statement: 'the decision was made at this time' },
    { path: '/relying_party', statement: 'this relying party asked, and the profile was its own' },
  );
  const { consumption, issuer_resolution: resolution, status } = body.evidence;
  if (consumption !== undefined)
    assumed.push({
      path: '/evidence/consumption',
      statement: 'these balances were the present ones, and were consumed from once',
    });
  if (resolution !== undefined)
    assumed.push({
      path: '/evidence/issuer_resolution',
      statement: 'this document was what the DID resolved to at resolved_at',
    });
  else if (outcomeOf(body, 'P2') === false)
    assumed.push({ path: pathOf('P2'), statement: 'there was no DID document to be had' });
  else if (wasUnavailable(body, 'P2', ['P1', 'T1', 'T3']))
    assumed.push({ path: pathOf('P2'), statement: 'the DID document was unavailable' });
  if (status !== undefined)
    assumed.push({ path: '/evidence/status', statement: 'this list was the current one at checked_at' });
};

/**
 * The remaining reason why P2 did not pass although the document has a usable key: the key was retired before the Grant
 * was allocated or became valid, or the allocation was unavailable.
 */
export const assumeRetiredKey = (facts: KnownFacts, body: ReceiptBody): Assumed => {
  const told = outcomeOf(body, 'P2') === false;
  // If P2 could not be decided, the Grant became valid before the retirement: otherwise that alone would have denied.
  const key = { state: 'retired', sinceMs: told ? -1 : Number.MAX_SAFE_INTEGER } as const;
  const principal =
    facts.principal?.answer === 'found'
      ? found({ ...facts.principal.value, key })
      : (facts.principal ?? unavailable);
  const statement = told
    ? 'the signing key had been retired before the Grant was allocated or became valid'
    : 'the signing key had been retired, and when the Grant was allocated was unavailable';
  return {
    facts: { ...facts, principal, allocation: told ? absent : unavailable },
    assumed: [{ path: pathOf('P2'), statement }],
  };
};
