/**
 * ReasonCode (interface §Receipt), in the interface's order: protocol, then trust, then reserved; with what each says to
 * people.
 */
export const PROTOCOL_REASONS = [
  'GRANT_MALFORMED',
  'UNSUPPORTED_FEATURE',
  'ISSUER_KEY_NOT_FOUND',
  'GRANT_SIGNATURE_INVALID',
  'GRANT_NOT_YET_VALID',
  'GRANT_EXPIRED',
  'AUTHORITY_REVOKED',
  'AUDIENCE_MISMATCH',
  'PROOF_MALFORMED',
  'PROOF_SIGNATURE_INVALID',
  'PROOF_AGENT_MISMATCH',
  'PROOF_GRANT_MISMATCH',
  'PROOF_AUDIENCE_MISMATCH',
  'PROOF_EXPIRED',
  'PROOF_ACTION_MISMATCH',
  'ACTION_MALFORMED',
  'ACTION_NOT_AUTHORIZED',
  'UNKNOWN_CONSTRAINT',
  'CURRENCY_NOT_AUTHORIZED',
  'AMOUNT_EXCEEDS_AUTHORITY',
  'RESOURCE_NOT_AUTHORIZED',
] as const;

/** Reasons of the checks against the service's own records. */
export const TRUST_REASONS = [
  'ISSUER_UNKNOWN',
  'ISSUER_UNVERIFIED',
  'ISSUER_KEY_COMPROMISED',
  'PROOF_REPLAYED',
  'SERVICE_UNAVAILABLE',
] as const;

/** Named by the interface; no check of `svc-trust-v1` gives them. */
export const RESERVED_REASONS = ['ISSUER_NOT_TRUSTED'] as const;

/** Every ReasonCode, in the interface's order. */
export const REASON_CODES = [...PROTOCOL_REASONS, ...TRUST_REASONS, ...RESERVED_REASONS] as const;

/** Why a decision is a DENY (interface §Receipt). `REASON_TEXTS` has a sentence for each. */
export type ReasonCode = (typeof REASON_CODES)[number];

const known: ReadonlySet<string> = new Set(REASON_CODES);
/** Whether a value is a ReasonCode that this version knows. */
export const isReasonCode = (text: unknown): text is ReasonCode =>
  typeof text === 'string' && known.has(text);

/** What happened, in one sentence for people; middlewares answer with it and the pages show it. */
export const REASON_TEXTS: Readonly<Record<ReasonCode, string>> = {
  GRANT_MALFORMED: 'The Grant cannot be read as a Grant of this protocol.',
  UNSUPPORTED_FEATURE: 'The Grant asks for something that this profile does not know.',
  ISSUER_KEY_NOT_FOUND: 'The key that the Grant names is not a usable key of its issuer.',
  GRANT_SIGNATURE_INVALID: 'The Grant was changed after it was signed, or another key signed it.',
  GRANT_NOT_YET_VALID: 'The Grant begins to hold later.',
  GRANT_EXPIRED: 'The Grant no longer holds.',
  AUTHORITY_REVOKED: 'This Grant was revoked or is paused, or the service never allocated it as it is.',
  AUDIENCE_MISMATCH: 'The Grant is for other relying parties.',
  PROOF_MALFORMED: 'The Proof cannot be read as a Proof of this protocol.',
  PROOF_SIGNATURE_INVALID: 'The Proof was changed after it was signed, or another key signed it.',
  PROOF_AGENT_MISMATCH: 'Another Agent signed than the one to whom the Grant was given.',
  PROOF_GRANT_MISMATCH: 'The Proof was signed for another Grant.',
  PROOF_AUDIENCE_MISMATCH: 'The Proof was signed for another relying party.',
  PROOF_EXPIRED: 'The Proof is too old, or dated ahead.',
  PROOF_ACTION_MISMATCH: 'The Agent signed for another action than the one described.',
  ACTION_MALFORMED: 'The relying party’s description of the action has a wrong form.',
  ACTION_NOT_AUTHORIZED: 'The Grant does not allow this kind of action.',
  UNKNOWN_CONSTRAINT: 'The Grant carries a condition that the profile cannot check.',
  CURRENCY_NOT_AUTHORIZED: 'The Grant does not allow this currency.',
  AMOUNT_EXCEEDS_AUTHORITY: 'The amount is above what the Grant allows, or too little is left of its budget.',
  RESOURCE_NOT_AUTHORIZED: 'The Grant does not cover this resource.',
  ISSUER_UNKNOWN: 'The issuer is not registered with this service.',
  ISSUER_UNVERIFIED: 'The issuer has not proved its domain.',
  ISSUER_KEY_COMPROMISED: 'The key that signed the Grant is marked as compromised.',
  PROOF_REPLAYED: 'An earlier ALLOW has spent this Proof.',
  SERVICE_UNAVAILABLE: 'What a check had to look up could not be reached. The service then never allows.',
  ISSUER_NOT_TRUSTED: 'Reserved; nothing in this policy answers it.',
};

/** A remedy for what P16 to P20 refuse, with the alternative to it (protocol §16). */
const orApproval = /* @__NO_SIDE_EFFECTS__ */ (remedy: string): string =>
  `${remedy}, or to approve this one Action (requestApproval).`;

/** What to do about a DENY, in one sentence, by its reason. `REASON_TEXTS` says what happened. */
export const REMEDIES: Readonly<Record<ReasonCode, string>> = {
  GRANT_MALFORMED: 'Pass on the Grant unchanged; if it was, the Principal must sign a well-formed Grant.',
  UNSUPPORTED_FEATURE: 'The Principal must sign a Grant without what this profile does not know.',
  ISSUER_KEY_NOT_FOUND:
    'The Principal must sign with a key that stands under assertionMethod in its DID document and has not ended.',
  GRANT_SIGNATURE_INVALID: 'Pass on the Grant unchanged; if it was, the Principal must sign anew.',
  GRANT_NOT_YET_VALID:
    'Wait until the Grant’s validFrom, which lies in the future if the Principal’s clock is ahead, or ask for a Grant that is valid now.',
  GRANT_EXPIRED: 'Ask the Principal for a new Grant.',
  AUTHORITY_REVOKED:
    'If it is paused, wait until the Principal resumes it; else the Agent needs another Grant, under an id of its own.',
  AUDIENCE_MISMATCH: 'Ask the Principal for a Grant whose audience names this relying party.',
  PROOF_MALFORMED: 'Pass on the Proof unchanged; if it was, the Agent must sign a well-formed Proof.',
  PROOF_SIGNATURE_INVALID: 'Pass on the Proof unchanged; if it was, the Agent must sign anew.',
  PROOF_AGENT_MISMATCH: 'The Agent that the Grant names must sign the Proof.',
  PROOF_GRANT_MISMATCH: 'The Agent must sign a Proof for the Grant that it presents.',
  PROOF_AUDIENCE_MISMATCH: 'The Agent must sign a Proof for this relying party.',
  PROOF_EXPIRED: 'The Agent must sign a new Proof, by a clock that is right.',
  PROOF_ACTION_MISMATCH:
    'The Agent must sign the Action that is asked about, member for member; an api:call also its method and URL.',
  ACTION_MALFORMED: 'The relying party must describe the Action as the interface has it.',
  ACTION_NOT_AUTHORIZED: orApproval(
    'Ask the Principal for a Grant with this kind of Action, and for an api:call this method',
  ),
  UNKNOWN_CONSTRAINT: orApproval(
    'Use a profile that knows this constraint, or ask the Principal for a Grant without it',
  ),
  CURRENCY_NOT_AUTHORIZED: orApproval(
    'Use a currency of the Grant, or ask the Principal for one with this currency',
  ),
  AMOUNT_EXCEEDS_AUTHORITY: orApproval('Ask for less, or ask the Principal for a Grant with more'),
  RESOURCE_NOT_AUTHORIZED: orApproval('Ask the Principal for a Grant that names this resource'),
  ISSUER_UNKNOWN: 'The issuer must register with this service as a Principal.',
  ISSUER_UNVERIFIED: 'The issuer must prove that its domain is its own.',
  ISSUER_KEY_COMPROMISED: 'The Principal must sign a new Grant with another key.',
  PROOF_REPLAYED: 'The Agent must sign a new Proof: each one is good for one ALLOW.',
  SERVICE_UNAVAILABLE: 'Try again in a moment.',
  ISSUER_NOT_TRUSTED: 'Reserved; nothing in this policy answers it.',
};
