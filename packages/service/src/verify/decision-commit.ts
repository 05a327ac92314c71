/** From a decided evaluation to the row set that the commit stores (protocol §10, interface §DecisionSummary). */
import { type Action, type CheckId, type Decided, type ReceiptId, TRUST_CONFIG } from '@svc/protocol';
import type { RpCaller } from '../access/caller.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { DecisionCommit, ProductionCheck, Spend } from '../ports/verify-store.ts';
import type { Idempotency } from './attempt.ts';

/** The widest proof window a relying party can have: a Proof is remembered that long whatever the window is now. */
const MAX_PROOF_WINDOW_SECONDS = 300;

/** Decisions that end here say nothing proven about the Principal (interface §DecisionStats). */
const PRE_AUTHENTICATION: readonly CheckId[] = ['P1', 'T1', 'T2', 'T3', 'P2', 'P3'];

export interface DecisionToCommit {
  readonly caller: RpCaller;
  readonly decided: Decided;
  readonly receiptId: ReceiptId;
  readonly nowMs: number;
  readonly jws: string;
  readonly usedPrincipal: Pick<PrincipalRecord, 'did' | 'version'> | null;
  readonly idempotency: Idempotency | null;
  readonly productionCheck: ProductionCheck | null;
}

export const buildDecisionCommit = (input: DecisionToCommit): DecisionCommit => {
  const { caller, decided, receiptId, nowMs, jws, usedPrincipal, idempotency, productionCheck } = input;
  const { P3, P9, P15 } = decided.evidence;
  const { balances } = decided.consulted;
  const authenticated = PRE_AUTHENTICATION.every((id) => decided.outcomes[id] === true);
  return {
    receiptId,
    jws,
    decision: decided.decision,
    reason: decided.reason,
    evaluatedAtMs: nowMs,
    relyingParty: { did: caller.subject, version: caller.relyingParty.version },
    keyHash: caller.key.keyHash,
    keyId: caller.key.keyId,
    usedPrincipal: usedPrincipal === null ? null : { did: usedPrincipal.did, version: usedPrincipal.version },
    usedGrantId: decided.outcomes.P6 === true ? (P3?.grant.id ?? null) : null,
    principal: authenticated && P3 !== undefined ? P3.grant.issuer : null,
    grantId: P3?.grant.id ?? null,
    agent: P9?.proof.agent ?? null,
    action: P15 === undefined ? null : actionColumns(P15.action),
    spend: spendOf(decided),
    idempotency,
    productionCheck,
    budget: balances === undefined ? null : { balances, consumption: decided.consumption },
  };
};

const actionColumns = (action: Action): NonNullable<DecisionCommit['action']> =>
  action.type === 'commerce:purchase'
    ? { ...action, method: null }
    : { ...action, amount: null, currency: null };

const spendOf = ({ decision, evidence: { P3, P9 } }: Decided): Spend | null => {
  if (decision !== 'ALLOW' || P3 === undefined || P9 === undefined) return null;
  const { iatSeconds, jti } = P9.proof;
  const keptSeconds = MAX_PROOF_WINDOW_SECONDS + TRUST_CONFIG.clockSkewSeconds;
  return { grantId: P3.grant.id, jti, expiresAtMs: (iatSeconds + keptSeconds) * 1000 };
};
