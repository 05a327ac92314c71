/** Says who can remedy a DENY, and how (interface §Receipt, ReasonCode). */
import type { ReasonCode } from '../model/reason-code.ts';

/** The alternative remedy for what P16 to P20 refuse (protocol §16). */
const OR_APPROVAL = 'or to approve this one Action (requestApproval)';

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
  ACTION_NOT_AUTHORIZED: `Ask the Principal for a Grant with this kind of Action, and for an api:call this method, ${OR_APPROVAL}.`,
  UNKNOWN_CONSTRAINT: `Use a profile that knows this constraint, or ask the Principal for a Grant without it, ${OR_APPROVAL}.`,
  CURRENCY_NOT_AUTHORIZED: `Use a currency of the Grant, or ask the Principal for one with this currency, ${OR_APPROVAL}.`,
  AMOUNT_EXCEEDS_AUTHORITY: `Ask for less, or ask the Principal for a Grant with more, ${OR_APPROVAL}.`,
  RESOURCE_NOT_AUTHORIZED: `Ask the Principal for a Grant that names this resource, ${OR_APPROVAL}.`,
  ISSUER_UNKNOWN: 'The issuer must register with this service as a Principal.',
  ISSUER_UNVERIFIED: 'The issuer must prove that its domain is its own.',
  ISSUER_KEY_COMPROMISED: 'The Principal must sign a new Grant with another key.',
  PROOF_REPLAYED: 'The Agent must sign a new Proof: each one is good for one ALLOW.',
  SERVICE_UNAVAILABLE: 'Try again in a moment.',
  ISSUER_NOT_TRUSTED: 'Reserved; nothing in this policy answers it.',
};

/** Remedies for `AUTHORITY_REVOKED` where it is known whether the Grant is paused. */
export const REMEDY_IF = {
  paused: 'Wait until the Principal resumes it; only then can it be said whether it is also revoked.',
  notPaused: 'The Agent needs another Grant, under an id of its own.',
} as const;
