/**
 * Mapping between AuthZEN and a verification (interface §AuthZEN records). The mapping authenticates nothing: faults
 * inside Grant, Proof and Action are evaluated. This module refuses only requests that cannot become a verification at
 * all.
 */
import type { Body, Routes } from '@svc/contract';
import { parseProof, type ReceiptBody, type VerifyRequest } from '@svc/protocol';
import type { ServiceIdentity, VerifyAnswer } from '@svc/service';

export type AuthZenRequest = Routes['evaluateAccess']['body']['_zod']['output'];
export type AuthZenResponse = Body<Routes['evaluateAccess'], 200>;

export type Mapped =
  | { readonly ok: true; readonly request: VerifyRequest }
  /** `problem` is appended to "body." or to the place of an item. */
  | { readonly ok: false; readonly problem: string };

export const toVerifyRequest = ({ subject, action, resource, context = {} }: AuthZenRequest): Mapped => {
  const { properties: presented = {} } = subject;
  const grant = presented.grant ?? context.grant;
  const proof = presented.proof ?? context.proof;
  if (typeof grant !== 'string') return refused('subject.properties.grant', 'the Grant as a string');
  if (typeof proof !== 'string') return refused('subject.properties.proof', 'the Proof as a string');
  const { properties = {} } = action;
  for (const name of ['type', 'resource'])
    if (Object.hasOwn(properties, name))
      return { ok: false, problem: `action.properties.${name} is not known: it stands elsewhere` };
  const parsed = parseProof(proof);
  // A Proof that cannot be parsed is evaluated, and denied.
  if (parsed.ok && parsed.value.agent !== subject.id)
    return { ok: false, problem: 'subject.id must be the Agent that signed the Proof' };
  return { ok: true, request: { grant, proof, action: actionOf(action.name, properties, resource.id) } };
};

const refused = (place: string, what: string): Mapped => ({
  ok: false,
  problem: `${place} must be ${what}, here or in context`,
});

/** The Action made from the properties that an Action has. Other properties are ignored: AuthZEN allows them. */
const actionOf = (
  type: AuthZenRequest['action']['name'],
  properties: Readonly<Record<string, unknown>>,
  resource: string,
): VerifyRequest['action'] => {
  const names = type === 'commerce:purchase' ? ['amount', 'currency'] : ['method'];
  const given = names.filter((name) => Object.hasOwn(properties, name));
  return { type, resource, ...Object.fromEntries(given.map((name) => [name, properties[name]])) };
};

/** The answer for a stored Receipt: a permit exactly if the Receipt says ALLOW. */
export const presentEvaluation = (
  { did, baseUrl }: Pick<ServiceIdentity, 'did' | 'baseUrl'>,
  { text }: VerifyAnswer,
): AuthZenResponse => {
  const receipt = JSON.parse(text) as ReceiptBody & { readonly receipt: string };
  const { receipt_id: receiptId, principal, agent } = receipt;
  return {
    decision: receipt.decision === 'ALLOW',
    context: {
      reason: receipt.reason,
      receipt_id: receiptId,
      evaluated_at: receipt.evaluated_at,
      relying_party: receipt.relying_party,
      ...(principal === undefined ? {} : { principal }),
      ...(agent === undefined ? {} : { agent }),
      receipt: receipt.receipt,
      receipt_url: `${baseUrl}/decisions/${receiptId}`,
      issuer: did,
    },
  };
};
