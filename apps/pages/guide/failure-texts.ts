/**
 * What the guide says about each failure of a Receipt and of the artifacts around it: one text for each code. The types
 * require a text for each code of `@svc/receipts` and of restore statements. The other codes belong to the libraries
 * that call a service, and to the kits.
 */
import type { AuditFailureCode } from '@svc/receipts/audit';
import type { BundleFailureCode } from '@svc/receipts/bundle';
import type { HelpText } from '@svc/sdk-core/help-texts';
import type { RestoreStatementFailure } from '@svc/transparency';

type Code =
  | AuditFailureCode
  | BundleFailureCode
  | RestoreStatementFailure['code']
  /** `@svc/sdk-rp` and the kits: an answer to their own call. */
  | 'grant-hash'
  | 'proof-hash'
  | 'relying-party'
  | 'request-hash'
  | 'old-answer'
  | 'clock-behind'
  | 'receipt-id'
  | 'decision'
  /** The kits only. */
  | 'request-mismatch'
  | 'malformed-answer'
  | 'malformed-json'
  | 'malformed-status-list'
  | 'webhook-invalid';

const AS_ANSWERED =
  'Take it as the service answered it: text of `/verify` or `/decisions/{receipt_id}`, unchanged.';
const IS_WRONG =
  'No genuine Receipt of this version is so. Update the library; where it stays, keep the Receipt and ask the operator of the service.';
const ASK_AGAIN =
  'It is no answer to what was asked: refuse the action. If it lasts, look for a proxy or a cache that answers in place of the service.';

export const FAILURE_TEXTS: Readonly<Record<Code, HelpText>> = {
  // The form of a Receipt.
  'malformed-receipt': {
    meaning: 'This is not JSON, not an object, nested deeper than 32, or longer than a Receipt can be.',
    remedy:
      'A Receipt is the whole answer of `/verify`, not its member `receipt` alone, which is a JWS. `svc-receipt verify` takes either.',
  },
  'malformed-json': {
    meaning:
      'This is no strict JSON: it breaks off, a member stands twice in an object, or a number has no exact form.',
    remedy: AS_ANSWERED,
  },
  'missing-member': { meaning: 'A member that must be there is not.', remedy: AS_ANSWERED },
  'unknown-member': {
    meaning: 'There is a member that this form does not have.',
    remedy: `${AS_ANSWERED} A newer service may have added it: update the library.`,
  },
  'malformed-member': { meaning: 'A member is of the wrong type or format.', remedy: AS_ANSWERED },
  'malformed-jws': {
    meaning: 'This is not a compact JWS: three parts of canonical base64url, with dots between them.',
    remedy: `${AS_ANSWERED} Padding, line breaks and another alphabet are refused.`,
  },
  'wrong-header': {
    meaning:
      'The protected header is not exactly `alg` EdDSA, a `kid` of the service and the `typ` of what this should be.',
    remedy:
      'See what was handed over: a Grant, a Proof, a checkpoint and a Receipt each have a `typ` of their own.',
  },
  'payload-not-canonical': {
    meaning: 'The signed payload is not the RFC 8785 form of a JSON object, nested no deeper than 32.',
    remedy: `Nothing may be decoded, printed and encoded again on the way. ${AS_ANSWERED}`,
  },
  'payload-mismatch': {
    meaning: 'Members beside the signature differ from those that were signed.',
    remedy:
      'Somebody or something has changed it. Believe what is signed, and get it again from the service.',
  },
  // The service and its keys.
  'malformed-did-document': {
    meaning: 'The pinned DID document of the service cannot be read. Nothing is known about the signature.',
    remedy: 'Pin `/.well-known/did.json` of the service as it was answered, over a channel that you trust.',
  },
  'wrong-service': {
    meaning: 'The DID document, or the key that is named, is of another service.',
    remedy: 'See that the document, `serviceDid` and the Receipt are of one service.',
  },
  'unknown-key': {
    meaning:
      'The key that is named is not in the DID document. No signature was checked, so anybody can have written it.',
    remedy:
      'The pinned document may be older than the key: obtain it again over a channel that you trust. If that does not have the key either, it is forged.',
  },
  'wrong-key': {
    meaning:
      'The key that is named is not one of those that sign this, or the DID document does not list it under `assertionMethod`.',
    remedy: 'The service signs nothing so: do not rely on it. Get it again from the service.',
  },
  'unusable-key': {
    meaning:
      'The key is in the document, but is no strict Ed25519 Multikey, or the time that it is in force is malformed.',
    remedy: 'Obtain the document again; if it is the same, tell the operator of the service.',
  },
  'key-not-in-force': {
    meaning: 'The signature is right, and dated outside the time of its key, or the key is compromised.',
    remedy:
      'The signature alone proves nothing then. Verify it with its inclusion proof and the attestation (`GET /decisions/{receipt_id}/attestation`), or as a bundle.',
  },
  'wrong-signature': {
    meaning: 'The signature is not by this key over these bytes.',
    remedy: 'It was changed or forged: do not rely on it. Get it again from the service.',
  },
  // Whether a Receipt agrees with itself.
  'wrong-time': {
    meaning:
      '`evaluated_at` is not the time in `receipt_id`, or the Receipt is of another day than the checkpoint.',
    remedy: `Take the checkpoint of the Receipt’s own day. Otherwise: ${IS_WRONG}`,
  },
  'wrong-outcome': {
    meaning: 'A check has an outcome that contradicts those that it requires.',
    remedy: IS_WRONG,
  },
  'wrong-decision': { meaning: 'The decision does not follow from the checks.', remedy: IS_WRONG },
  'wrong-reason': {
    meaning: 'The reason is not that of the first check that failed, or an ALLOW has one.',
    remedy: IS_WRONG,
  },
  'wrong-result': { meaning: 'The result of a group of checks does not follow from them.', remedy: IS_WRONG },
  'wrong-presence': {
    meaning: 'A member is there or missing contrary to how far the checks got.',
    remedy: IS_WRONG,
  },
  contradiction: { meaning: 'Two members contradict each other.', remedy: IS_WRONG },
  'stale-evidence': {
    meaning: 'The decision rests on evidence that was older than the trust configuration allows.',
    remedy: IS_WRONG,
  },
  'unknown-profile': {
    meaning: 'This version of the library does not know the profile. It is neither right nor wrong.',
    remedy: 'Update the library.',
  },
  'wrong-profile-hash': {
    meaning:
      'This version of the library knows the profile under other hashes. It is neither right nor wrong: a change of its published text is a new hash.',
    remedy: 'Update the library.',
  },
  'unknown-trust-config': {
    meaning:
      'This version of the library does not know the trust configuration. It is neither right nor wrong.',
    remedy: 'Update the library.',
  },
  'wrong-trust-config-hash': {
    meaning:
      'This version of the library knows the trust configuration under another hash. It is neither right nor wrong.',
    remedy: 'Update the library.',
  },
  // A Receipt as the answer to a call.
  'grant-hash': {
    meaning: 'The Receipt is genuine, and about another Grant than was sent.',
    remedy: ASK_AGAIN,
  },
  'proof-hash': {
    meaning: 'The Receipt is genuine, and about another Proof than was sent.',
    remedy: ASK_AGAIN,
  },
  'relying-party': {
    meaning: 'The Receipt is genuine, and for another relying party.',
    remedy: 'The API key, or the DID that was given as your own, is of another relying party.',
  },
  'request-hash': {
    meaning: 'The Receipt allows, genuinely, another HTTP request or another Action.',
    remedy:
      'Refuse the request. If every request gets it, the `url` or `origin` given is not the address that Agents use.',
  },
  'request-mismatch': {
    meaning: 'The Proof is for another HTTP request than the one received. The service was not asked.',
    remedy:
      'Refuse the request. If every request gets it, the URL given is not the address that Agents use, as behind a proxy.',
  },
  'old-answer': {
    meaning: 'The Receipt was evaluated before this call, by the clock here.',
    remedy: 'Synchronise the clock. If it is right, it is the answer to an earlier call, played again.',
  },
  'clock-behind': {
    meaning: 'The Receipt was evaluated later than this call can have been, by the clock here.',
    remedy: 'Synchronise the clock here: it is behind that of the service.',
  },
  'receipt-id': {
    meaning: 'The Receipt is genuine, and of another decision than was asked for.',
    remedy: ASK_AGAIN,
  },
  decision: { meaning: 'The record of a decision contradicts the Receipt in it.', remedy: ASK_AGAIN },
  'malformed-answer': {
    meaning: 'What answered is not of the interface.',
    remedy: 'See that the address is that of the service, and that nothing in between changes answers.',
  },
  // Inclusion in the log.
  'malformed-inclusion': {
    meaning: 'The inclusion proof is not JSON, not an object, or too long.',
    remedy: 'Give the answer of `GET /decisions/{receipt_id}/inclusion`, unchanged.',
  },
  'inclusion-pending': {
    meaning: 'The day is still open, so there is no proof yet. It is neither right nor wrong.',
    remedy: 'Ask for the proof again once the day (UTC) is closed.',
  },
  'malformed-checkpoint': {
    meaning: 'This is neither a checkpoint nor its JWS.',
    remedy: 'Give the answer of `GET /checkpoints/{day}`, or the JWS in it.',
  },
  'other-receipt': {
    meaning: 'The inclusion proof is of another Receipt.',
    remedy: 'Ask for the proof of this `receipt_id`.',
  },
  'other-checkpoint': {
    meaning: 'The checkpoint given is not the one in the proof.',
    remedy:
      'If both are of one day and signed by the service, that is a fork of the log: keep both, and publish them.',
  },
  'wrong-leaf': {
    meaning: 'The leaf of the proof is not that of the Receipt.',
    remedy:
      'Ask for the proof again. If it stays, the service has logged something else than it signed: keep both.',
  },
  'not-included': {
    meaning: 'The path does not lead from the Receipt to the root of the checkpoint.',
    remedy: 'Ask for the proof again. If it stays, the Receipt is not in the log of its day: keep both.',
  },
  'wrong-attestation': {
    meaning:
      'The attestation is none, is not about this Receipt and this checkpoint, or is dated before that.',
    remedy: 'Give the answer of `GET /decisions/{receipt_id}/attestation` for this Receipt.',
  },
  'wrong-statement': {
    meaning: 'The restore statement is none, of another service, or dated before the end of what it states.',
    remedy: 'Ask for it again (`GET /restores`).',
  },
  // Bundles.
  'malformed-bundle': {
    meaning: 'The bundle is not JSON, not an object, nested deeper than 32, or too long.',
    remedy: 'Give the file as it was written.',
  },
  'unpinned-key': {
    meaning:
      'Something is signed by a key that is not among the pinned ones, or is pinned for something else.',
    remedy:
      'Whoever wrote the bundle may have made that key, or have got hold of one of the two: do not rely on it. See first that each key is pinned for what the service’s own document calls it.',
  },
  'missing-key': {
    meaning: 'Each pinned key signed something, and so did one that is not pinned.',
    remedy: 'If the service’s own DID document has that key, pin it too. Else do not rely on the bundle.',
  },
  'wrong-evidence': {
    meaning: 'An artifact does not have its stated hash.',
    remedy: 'Take it again from `GET /evidence/{hash}`, byte for byte.',
  },
  'missing-evidence': {
    meaning: 'The Receipt names evidence, or balances, that were not given. It is neither right nor wrong.',
    remedy:
      'Give what the message names: `GET /evidence/{hash}` has it, `GET /grants/{id}/consumption` the balances.',
  },
  // Audits.
  'other-grant': {
    meaning: 'The Grant is not the one that was decided about.',
    remedy: 'Give the one that was presented, character for character.',
  },
  'other-proof': {
    meaning: 'The Proof is not the one that was decided about.',
    remedy: 'Give the one that was presented, character for character.',
  },
  'other-action': {
    meaning: 'The Action is not the one that was decided about.',
    remedy: 'Give the Action that the relying party sent.',
  },
  'missing-proof-window': {
    meaning:
      'The proof window of the relying party was not given, or is none that a relying party can have. The Receipt is neither right nor wrong.',
    remedy: 'Give the `proof_window_seconds` that the relying party had then, as `proofWindowSeconds`.',
  },
  'wrong-status-list': {
    meaning:
      'The status list that the Receipt names is not signed by the service, or not the list of the Grant.',
    remedy:
      'No genuine decision rests on such a list: keep it with the Receipt, and ask the operator of the service.',
  },
  'wrong-balances': {
    meaning: 'The balances that the Receipt names are not those of the Grant at that version.',
    remedy:
      'No genuine decision rests on such balances: keep them with the Receipt, and ask the operator of the service.',
  },
  // Other artifacts that the service signs.
  'malformed-status-list': {
    meaning: 'The payload is no Bitstring Status List credential of the service.',
    remedy: 'Give the answer of the address in the Grant’s `credentialStatus`, unchanged.',
  },
  'webhook-invalid': {
    meaning: 'A webhook is not signed by the service with your secret, is not fresh, or is no event.',
    remedy:
      'Answer 400 and do nothing with it. If all are: give the body byte for byte, and the secret of this subscription; synchronise the clock.',
  },
};
