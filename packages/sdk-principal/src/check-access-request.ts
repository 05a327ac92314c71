/**
 * Checks that a request for approval is what the service says it is (protocol §16). What is shown to the person who
 * decides does not rest on the service's description. It is in the Proof that the Agent signed, and the Receipt of the
 * denial contains the hash of that Proof.
 */
import { portableCrypto, sha256Of } from '@svc/codec';
import {
  type Action,
  type ApprovalOutcomes,
  canonicalAction,
  findUnapprovable,
  isReadable,
  PROOF_WINDOW_MAX_SECONDS,
  type Proof,
  parseAction,
  parseProof,
  requestHashOf,
  TRUST_CONFIG,
} from '@svc/protocol';
import { type Receipt, verifyReceipt } from '@svc/receipts';
import { type AccessRequest, SvcError } from '@svc/sdk-core';

/** The evidence with which a request is checked. */
export interface AccessRequestEvidence {
  /** DID of the Principal that would approve it. Take it from the signing key, never from the service. */
  principal: string;
  /** The Receipt with the request's `receipt_id`, as an object or text. */
  receipt: unknown;
  /** The service's DID document. */
  didDocument: unknown;
  /** The service's DID; a Receipt of another service is not genuine. Unless given, the DID of the document. */
  serviceDid?: string;
  /** Milliseconds since the epoch; this computer's clock unless given. */
  nowMs?: number;
}

/** The denial that a request is about. The denial is verified, and the request agrees with it. */
export interface CheckedAccessRequest {
  receipt: Receipt;
  action: Action;
  /** When the Agent signed the Proof. */
  signedAt: Date;
}

/**
 * Up to an hour from the denial to the request, up to a day until the request expires, and an hour for clocks that
 * differ. Older requests have expired.
 */
export const OLDEST_REQUEST_MS = 26 * 3_600_000;
const CLOCKS_DIFFER_MS = 3_600_000;

/**
 * Compares a request with what its Agent signed and with the Receipt of the denial, and verifies both.
 * @throws SvcError `receipt-invalid`: it is not what was denied, or this cannot be determined; do not approve it.
 * `configuration`: everything agrees, but by this computer's clock it is more than 26 hours old, or over an hour in the
 * future
 * @example
 * for await (const asked of client.approvals.list()) console.log(checkAccessRequest(asked, { principal: 'did:web:acme.example', receipt, didDocument }).action);
 */
export function checkAccessRequest(
  request: AccessRequest,
  { principal, receipt, didDocument, serviceDid, nowMs = Date.now() }: AccessRequestEvidence,
): CheckedAccessRequest {
  if (request.principal !== principal) throw untrue(`it asks another Principal than ${principal}`);
  const parsed = parseAction(request.action);
  if (!parsed.ok) throw untrue(`its Action is none: ${parsed.problem}`);
  const action = parsed.value;
  if (!isReadable(action.resource))
    throw untrue('its resource has characters that are not seen, or that change how the others are read');
  const proof = readProof(request);
  const problem = problemOfProof(proof, request, action);
  if (problem !== null) throw untrue(problem);
  const verified = verifyReceipt(receipt, didDocument, serviceDid === undefined ? {} : { serviceDid });
  if (!verified.ok)
    throw untrue(`the Receipt of the denial is not genuine: ${verified.failures[0]?.message ?? 'unknown'}`);
  const difference = problemOfReceipt(verified.receipt, request, proof, action);
  if (difference !== null) throw untrue(difference);
  checkClock(proof, nowMs);
  return { receipt: verified.receipt, action, signedAt: new Date(proof.iatSeconds * 1_000) };
}

function readProof({ proof: text }: AccessRequest): Proof {
  if (text === null) throw untrue('it comes without the Proof of the Agent');
  const proof = parseProof(text);
  if (!proof.ok) throw untrue(`its Proof is none: ${proof.problem}`);
  const { publicKey, signingInput, signature } = proof.value;
  if (!portableCrypto.verify(publicKey, signingInput, signature))
    throw untrue('the Agent has not signed its Proof');
  return proof.value;
}

function problemOfProof(proof: Proof, asked: AccessRequest, action: Action): string | null {
  if (proof.agent !== asked.agent) return `the Proof is of another Agent, ${proof.agent}`;
  if (proof.audience !== asked.relying_party)
    return `the Agent signed for another relying party, ${proof.audience}`;
  if (proof.grantId !== asked.grant_id) return 'the Agent signed under another Grant';
  if (canonicalAction(proof.action) !== canonicalAction(action))
    return `the Agent signed for another Action, ${canonicalAction(proof.action)}`;
  return null;
}

/**
 * Everything that is signed agrees. That would also be so for an old request that is presented again, so its age is
 * checked with this computer's clock, which may be wrong.
 */
function checkClock({ iatSeconds }: Proof, nowMs: number): void {
  const signedMs = iatSeconds * 1_000;
  const isOld = nowMs - signedMs > OLDEST_REQUEST_MS;
  if (!isOld && signedMs - nowMs <= CLOCKS_DIFFER_MS) return;
  const [here, signed] = [new Date(nowMs).toISOString(), new Date(signedMs).toISOString()];
  throw new SvcError(
    'configuration',
    `this computer's clock says ${here}, and the Agent signed at ${signed}: set the clock. If the clock is right, the request is ${isOld ? 'an old one, shown again' : 'not to be believed'}: do not approve it`,
  );
}

/** Whether the Proof can have passed P13 (protocol §7) at that time. */
function isFresh({ iatSeconds }: Proof, evaluatedAt: string): boolean {
  const ageMs = Date.parse(evaluatedAt) - iatSeconds * 1_000;
  return ageMs >= -TRUST_CONFIG.clockSkewSeconds * 1_000 && ageMs <= PROOF_WINDOW_MAX_SECONDS * 1_000;
}

function problemOfReceipt(
  receipt: Receipt,
  asked: AccessRequest,
  proof: Proof,
  action: Action,
): string | null {
  const { htm, normalizedHtu } = proof;
  const about: readonly (readonly [string, unknown, unknown])[] = [
    ['decision', receipt.receipt_id, asked.receipt_id],
    ['relying party', receipt.relying_party, asked.relying_party],
    ['Principal', receipt.principal?.id, asked.principal],
    ['Agent', receipt.agent, asked.agent],
    ['Grant', receipt.grant_id, asked.grant_id],
    ['Proof', receipt.proof_hash, sha256Of(portableCrypto, asked.proof ?? '')],
    ['Action', receipt.request_hash, requestHashOf(portableCrypto, { action, htm, normalizedHtu })],
  ];
  const other = about.find(([, one, another]) => one !== another);
  if (other !== undefined) return `the Receipt of the denial is about another ${other[0]}`;
  if (receipt.decision !== 'DENY') return 'what it is about was allowed';
  if (!isFresh(proof, receipt.evaluated_at))
    return 'the Agent signed for it at another time than it was denied';
  return findUnapprovable(outcomesOf(receipt), receipt.protocol.profile);
}

const outcomesOf = ({ protocol, trust }: Receipt) =>
  ({ ...protocol.checks, ...trust.checks }) as ApprovalOutcomes;

const untrue = (why: string): SvcError =>
  new SvcError('receipt-invalid', `the request is not to be believed: ${why}`);
