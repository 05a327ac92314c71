/**
 * The engine as a function from JSON to JSON: the form that vectors, other implementations and audits share
 * (vectors/README.md). The input contains every fact; the output is the body of the Receipt.
 */

import {
  type CryptoPort,
  type DidKey,
  type DidWeb,
  isJsonObject,
  isSha256,
  type JsonObject,
  type JsonValue,
  parseInstant,
  parseTimestamp,
  sha256Of,
} from '@svc/codec';
import type { Balances } from './budgets/balances.ts';
import { type ConsumptionSnapshot, parseSnapshot } from './budgets/snapshot.ts';
import { evaluate, parsePresented } from './evaluate.ts';
import {
  type AllocationFact,
  type Answer,
  absent,
  type DocumentFact,
  type Facts,
  found,
  type PrincipalFact,
  type StatusFact,
  unavailable,
} from './facts.ts';
import { parseDidDocument } from './model/did-document.ts';
import { isReceiptId, type ReceiptId } from './model/ids.ts';
import { member } from './model/members.ts';
import { isProfileId, type ProfileId } from './profiles/index.ts';
import { buildReceiptBody, type ReceiptBody } from './receipt-body.ts';

/** `"unavailable"`, `"absent"`, or what was found. */
export type JsonAnswer<T> = 'absent' | 'unavailable' | { readonly found: T };

/** An evaluation as plain JSON, in the form of the test vectors (vectors/README.md). */
export interface EvaluateInput {
  readonly receipt_id: string;
  /** The instant of the evaluation, RFC 3339 with milliseconds. */
  readonly now: string;
  readonly relying_party: {
    readonly did: string;
    readonly profile: string;
    readonly proof_window_seconds: number;
  };
  readonly grant: string;
  readonly proof: string;
  readonly action: unknown;
  readonly facts: {
    readonly principal: JsonAnswer<{
      readonly verification: 'verified' | 'unverified';
      readonly key: { readonly state: 'active' | 'retired' | 'compromised'; readonly since: string } | null;
    }>;
    /** `document`: the exact text, pinned by its SHA-256. */
    readonly document: JsonAnswer<{ readonly document: string; readonly resolved_at: string }>;
    readonly allocation: JsonAnswer<{
      readonly issuer: string;
      readonly agent: string;
      readonly status_list_credential: string;
      readonly status_list_index: string;
      readonly allocated_at: string;
      /** Hash of the Grant that was first allowed under this id; absent and null mean that none was. */
      readonly grant_hash?: string | null;
    }>;
    readonly status: JsonAnswer<{
      readonly revoked: boolean;
      readonly credential_hash: string;
      readonly valid_from: string | null;
      readonly checked_at: string;
    }>;
    /** Needed where a budget is checked: the balances as published. Version 0 means never consumed from. */
    readonly balances?: JsonAnswer<ConsumptionSnapshot>;
    readonly spent: JsonAnswer<boolean>;
  };
}

/** Thrown when the input is not an `EvaluateInput`: an error of the caller, never a verdict. */
export class EvaluateInputError extends Error {
  override readonly name = 'EvaluateInputError';
}

/**
 * Evaluates, and returns the body of the Receipt: all of it except the signature. Throws `EvaluateInputError` on an
 * unusable input.
 */
export const evaluateJson = (input: unknown, crypto: CryptoPort): ReceiptBody => {
  const { request, context, facts } = parseEvaluateInput(input, crypto);
  const decided = evaluate(parsePresented(request), facts, context);
  if (decided.kind === 'undecided') throw new EvaluateInputError('facts: every look-up needs an answer');
  return buildReceiptBody(request, decided, context);
};

/** Parses the JSON form into what `evaluate` takes. Throws `EvaluateInputError` on an unusable input. */
export const parseEvaluateInput = (input: unknown, crypto: CryptoPort) => {
  const root = objectAt(input, 'input');
  const rp = objectAt(root.relying_party, 'relying_party');
  const grant = stringAt(root.grant, 'grant');
  const did = stringAt(rp.did, 'relying_party.did') as DidWeb;
  const context = {
    receiptId: receiptIdAt(root.receipt_id),
    nowMs: instantAt(root.now, 'now'),
    relyingParty: {
      did,
      profile: profileAt(rp.profile),
      proofWindowSeconds: integerAt(rp.proof_window_seconds, 'relying_party.proof_window_seconds'),
    },
    crypto,
  };
  return {
    request: { grant, proof: stringAt(root.proof, 'proof'), action: root.action },
    context,
    facts: parseFacts(objectAt(root.facts, 'facts'), grant, crypto),
  };
};

const parseFacts = (facts: JsonObject, grant: string, crypto: CryptoPort): Facts => ({
  principal: answerAt(facts.principal, 'facts.principal', parsePrincipal),
  document: answerAt(facts.document, 'facts.document', (value) => parseDocument(value, grant, crypto)),
  allocation: answerAt(facts.allocation, 'facts.allocation', parseAllocation),
  status: answerAt(facts.status, 'facts.status', parseStatus),
  ...(facts.balances === undefined
    ? {}
    : { balances: answerAt(facts.balances, 'facts.balances', parseBalances) }),
  spent: answerAt(facts.spent, 'facts.spent', (value) => found(booleanAt(value, 'facts.spent'))),
});

const answerAt = <T>(
  value: JsonValue | undefined,
  at: string,
  parse: (value: JsonValue) => Answer<T>,
): Answer<T> => {
  if (value === 'absent') return absent;
  if (value === 'unavailable') return unavailable;
  const inner = member(objectAt(value, at), 'found');
  if (inner === undefined)
    throw new EvaluateInputError(`${at} must be "absent", "unavailable" or {"found": …}`);
  return parse(inner);
};

const parsePrincipal = (value: JsonValue): Answer<PrincipalFact> => {
  const principal = objectAt(value, 'facts.principal');
  const key = principal.key === null ? null : objectAt(principal.key, 'facts.principal.key');
  return found({
    verification: oneOf(principal.verification, ['verified', 'unverified'], 'facts.principal.verification'),
    key: key && {
      state: oneOf(key.state, ['active', 'retired', 'compromised'], 'facts.principal.key.state'),
      sinceMs: instantAt(key.since, 'facts.principal.key.since'),
    },
  });
};

/** A document that is not the issuer's has the same effect as one that could not be fetched. */
const parseDocument = (value: JsonValue, grant: string, crypto: CryptoPort): Answer<DocumentFact> => {
  const fact = objectAt(value, 'facts.document');
  const text = stringAt(fact.document, 'facts.document.document');
  const parsedGrant = parsePresented({ grant, proof: '', action: null }).grant;
  if (!parsedGrant.ok) return absent;
  const document = parseDidDocument(text, parsedGrant.value.issuer);
  if (document === null) return unavailable;
  const resolvedAtMs = instantAt(fact.resolved_at, 'facts.document.resolved_at');
  return found({ document, hash: sha256Of(crypto, text), resolvedAtMs });
};

const parseAllocation = (value: JsonValue): Answer<AllocationFact> => {
  const fact = objectAt(value, 'facts.allocation');
  const grantHash = fact.grant_hash ?? null;
  if (grantHash !== null && !isSha256(grantHash))
    throw new EvaluateInputError('facts.allocation.grant_hash must be sha256:<hex> or null');
  return found({
    issuer: stringAt(fact.issuer, 'facts.allocation.issuer') as DidWeb,
    agent: stringAt(fact.agent, 'facts.allocation.agent') as DidKey,
    statusListCredential: stringAt(fact.status_list_credential, 'facts.allocation.status_list_credential'),
    statusListIndex: stringAt(fact.status_list_index, 'facts.allocation.status_list_index'),
    allocatedAtMs: instantAt(fact.allocated_at, 'facts.allocation.allocated_at'),
    grantHash,
  });
};

const parseStatus = (value: JsonValue): Answer<StatusFact> => {
  const fact = objectAt(value, 'facts.status');
  const { credential_hash: credentialHash, valid_from: validFrom } = fact;
  if (!isSha256(credentialHash))
    throw new EvaluateInputError('facts.status.credential_hash must be sha256:<hex>');
  return found({
    revoked: booleanAt(fact.revoked, 'facts.status.revoked'),
    credentialHash,
    validFrom:
      validFrom === null || validFrom === undefined ? null : stringAt(validFrom, 'facts.status.valid_from'),
    checkedAtMs: instantAt(fact.checked_at, 'facts.status.checked_at'),
  });
};

const parseBalances = (value: JsonValue): Answer<Balances> => {
  const balances = parseSnapshot(value);
  if (balances === null) throw new EvaluateInputError('facts.balances must be balances as published');
  return found(balances);
};

const objectAt = (value: unknown, at: string): JsonObject => {
  if (isJsonObject(value)) return value;
  throw new EvaluateInputError(`${at} must be an object`);
};

const stringAt = (value: unknown, at: string): string => {
  if (typeof value === 'string') return value;
  throw new EvaluateInputError(`${at} must be a string`);
};

const booleanAt = (value: unknown, at: string): boolean => {
  if (typeof value === 'boolean') return value;
  throw new EvaluateInputError(`${at} must be true or false`);
};

const integerAt = (value: unknown, at: string): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new EvaluateInputError(`${at} must be an integer`);
};

const instantAt = (value: unknown, at: string): number => {
  const ms = typeof value === 'string' ? (parseInstant(value) ?? parseTimestamp(value)) : null;
  if (ms === null) throw new EvaluateInputError(`${at} must be an RFC 3339 UTC instant`);
  return ms;
};

const oneOf = <T extends string>(value: unknown, options: readonly T[], at: string): T => {
  const option = options.find((candidate) => candidate === value);
  if (option === undefined) throw new EvaluateInputError(`${at} must be one of ${options.join(', ')}`);
  return option;
};

const receiptIdAt = (value: unknown): ReceiptId => {
  if (isReceiptId(value)) return value;
  throw new EvaluateInputError('receipt_id must be drc_ and a ULID');
};

const profileAt = (value: unknown): ProfileId => {
  if (isProfileId(value)) return value;
  throw new EvaluateInputError('relying_party.profile is not known');
};
