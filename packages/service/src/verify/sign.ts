/**
 * Makes from a decided evaluation the signed Receipt that is answered, and the row that the commit stores (protocol §8,
 * §10, interface §DecisionSummary).
 */
import {
  type Action,
  buildReceiptBody,
  type CheckId,
  type Decided,
  encodeUlid,
  type Facts,
  jcs,
  PROOF_WINDOW_MAX_SECONDS,
  type ReceiptBody,
  type ReceiptId,
  type Sha256,
  TRUST_CONFIG,
} from '@svc/protocol';
import { RECEIPT_TYP, signReceipt } from '@svc/receipts';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import type { DecisionCommit, Spend } from '../ports/verify-store.ts';
import type { VerifyAnswer } from './answer.ts';
import { contextOf, type Grounds } from './evaluate.ts';
import type { EntitledCaller } from './gate.ts';

/**
 * The checks that show that a Grant is the Principal's own. T2 is not one of them, so that a Principal whose domain is
 * not proven sees in its usage that its Grants are denied (interface §GET /usage).
 */
const AUTHENTICATION: readonly CheckId[] = ['P1', 'T1', 'T3', 'P2', 'P3'];

export interface SignedDecision {
  readonly commit: DecisionCommit;
  /** Returned to the caller once the commit is stored. */
  readonly answer: VerifyAnswer;
}

/** A decision whose Receipt body is built and not signed yet. */
export interface DraftedDecision {
  readonly body: ReceiptBody;
  readonly grounds: Grounds;
  readonly decided: Decided;
  readonly nowMs: number;
}

/** Builds the Receipt of a decision made at `nowMs`. Throws `INVALID_REQUEST` where it is too long for the signer. */
export const draftDecision = (
  { identity, random }: Pick<ServiceDeps, 'identity' | 'random'>,
  grounds: Grounds,
  decided: Decided,
  nowMs: number,
): DraftedDecision => {
  const receiptId = `drc_${encodeUlid(nowMs, random.bytes(10))}` as ReceiptId;
  const body = buildReceiptBody(grounds.call.request, decided, { ...contextOf(grounds, nowMs), receiptId });
  const { maxBytes } = identity.receiptKeys.signer;
  if (maxBytes !== undefined) refuseUnsignable(body, identity.receiptKeys.signer.kid, maxBytes);
  return { body, grounds, decided, nowMs };
};

/**
 * The Principal decides how long the part of a Grant is that a Receipt repeats; an external signer may limit the
 * length.
 */
const refuseUnsignable = (body: ReceiptBody, kid: string, maxBytes: number): void => {
  // The length of the JWS without its signature. `JSON.stringify` gives the RFC 8785 form of a body.
  const header = jcs({ alg: 'EdDSA', kid, typ: RECEIPT_TYP });
  const bytes = base64urlBytes(header) + 1 + base64urlBytes(JSON.stringify(body));
  if (bytes <= maxBytes) return;
  throw invalidRequest(
    `The Receipt of this decision would take ${bytes} bytes to sign, and this deployment signs ${maxBytes} at most. The Capability that the Grant gives for this action must be shorter: fewer or shorter resources. Nothing was decided or stored.`,
  );
};

const base64urlBytes = (text: string): number => Math.ceil((Buffer.byteLength(text) * 4) / 3);

export const signDraft = async (
  { identity }: Pick<ServiceDeps, 'identity'>,
  { body, grounds, decided, nowMs }: DraftedDecision,
): Promise<SignedDecision> => {
  const receiptId = body.receipt_id;
  const { jws, text } = await signReceipt(body, identity.receiptKeys.signer);
  return {
    commit: buildDecisionCommit(grounds, decided, {
      receiptId,
      jws,
      evaluatedAtMs: nowMs,
      grantHash: body.grant_hash,
    }),
    answer: {
      text,
      receiptId,
      decision: decided.decision,
      reason: decided.reason,
      replayed: false,
      isAskerPaused: grounds.entitled.caller.isPaused,
    },
  };
};

/** Builds and signs the Receipt of a decision made at `nowMs`. Rejects with what `draftDecision` throws. */
export const signDecision = async (
  deps: Pick<ServiceDeps, 'identity' | 'random'>,
  grounds: Grounds,
  decided: Decided,
  nowMs: number,
): Promise<SignedDecision> => signDraft(deps, draftDecision(deps, grounds, decided, nowMs));

export const buildDecisionCommit = (
  { call, entitled, loaded: { usedPrincipal, facts } }: Grounds,
  decided: Decided,
  signed: Pick<DecisionCommit, 'receiptId' | 'jws' | 'evaluatedAtMs'> & { readonly grantHash: Sha256 },
): DecisionCommit => {
  const { P3, P9, P15 } = decided.evidence;
  const { balances } = decided.consulted;
  const { caller } = entitled;
  const authenticated = AUTHENTICATION.every((id) => decided.outcomes[id] === true);
  return {
    receiptId: signed.receiptId,
    jws: signed.jws,
    evaluatedAtMs: signed.evaluatedAtMs,
    decision: decided.decision,
    reason: decided.reason,
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
    bindsGrantHash: decided.decision === 'ALLOW' && !isBound(facts) ? signed.grantHash : null,
    idempotency: call.idempotency,
    productionCheck: isSandboxProven(entitled, decided) ? null : entitled.productionCheck,
    budget: balances === undefined ? null : { balances, consumption: decided.consumption },
  };
};

/** Whether the Grant's id is bound to a Grant by an earlier ALLOW. */
export const isBound = ({ allocation }: Facts): boolean =>
  allocation?.answer === 'found' && allocation.value.grantHash !== null;

/** Only a Grant that the sandbox's Principal has signed (P3) is the sandbox's; naming that Principal is not enough. */
const isSandboxProven = ({ namesSandbox }: EntitledCaller, { evidence: { P3 } }: Decided): boolean =>
  namesSandbox && P3 !== undefined;

const actionColumns = (action: Action): NonNullable<DecisionCommit['action']> =>
  action.type === 'commerce:purchase'
    ? { ...action, method: null }
    : { ...action, amount: null, currency: null };

const spendOf = ({ decision, evidence: { P3, P9 } }: Decided): Spend | null => {
  if (decision !== 'ALLOW' || P3 === undefined || P9 === undefined) return null;
  const { iatSeconds, jti } = P9.proof;
  // The widest window, because the relying party can change its own.
  const keptSeconds = PROOF_WINDOW_MAX_SECONDS + TRUST_CONFIG.clockSkewSeconds;
  return { grantId: P3.grant.id, jti, expiresAtMs: (iatSeconds + keptSeconds) * 1000 };
};
