/** Each kind of token in the place of another: both `typ` and shape determine the kind (protocol §1). */
import { jcs } from '@svc/protocol';
import { grantToken, honestScene, proofToken, type Scene, type TokenDraft } from '../../scene.ts';
import { STATUS_LISTS } from '../../status-lists.ts';
import { KEYS, RECEIPT_KID, SERVICE_DID, STATUS_KID } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const receiptLike = { receipt_version: 'svc-receipt-v1', decision: 'ALLOW', reason: null };
const checkpointLike = {
  ...{ iss: SERVICE_DID, day: '2026-11-19', tree_size: 0, tree: 'rfc6962-sha256', previous_root: null },
  ...{ first_receipt_id: null, last_receipt_id: null, iat: 1795132800 },
  root: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

/** Signs `payload` as the service does, for the place of a Grant or a Proof. */
const signedByService = (draft: TokenDraft, typ: string, kid: string, payload: object): void => {
  draft.key = kid === RECEIPT_KID ? KEYS.receipt : KEYS.status;
  draft.header = { typ, kid };
  draft.editPayload = () => jcs(JSON.parse(JSON.stringify(payload)));
};

type Slot = 'grant' | 'proof';
const KINDS: readonly (readonly [id: string, name: string, put: (s: Scene, slot: Slot) => void])[] = [
  [
    'receipt',
    'a Receipt',
    (s, slot) => signedByService(s[slot], 'svc-receipt+jwt', RECEIPT_KID, receiptLike),
  ],
  [
    'checkpoint',
    'a checkpoint',
    (s, slot) => signedByService(s[slot], 'svc-checkpoint+jwt', STATUS_KID, checkpointLike),
  ],
  [
    'status-list',
    'a status list credential, whose typ is that of a Grant',
    (s, slot) => {
      s[slot].editToken = () => STATUS_LISTS.current.jws;
    },
  ],
  [
    'grant',
    'the Grant',
    (s, slot) => {
      s[slot].editToken = () => grantToken(honestScene());
    },
  ],
  [
    'proof',
    'the Proof',
    (s, slot) => {
      s[slot].editToken = () => proofToken(honestScene());
    },
  ],
];

const substituted: readonly VectorCase[] = KINDS.flatMap(([id, name, put]) => [
  ...(id === 'grant'
    ? []
    : [
        deny(
          'GRANT_MALFORMED',
          `substitution-${id}-as-grant`,
          `${name} in the place of the Grant`,
          { P1: false },
          (s) => put(s, 'grant'),
        ),
      ]),
  ...(id === 'proof'
    ? []
    : [
        deny(
          'PROOF_MALFORMED',
          `substitution-${id}-as-proof`,
          `${name} in the place of the Proof`,
          { P8: false },
          (s) => put(s, 'proof'),
        ),
      ]),
]);

const RELABELLED: readonly VectorCase[] = [
  deny(
    'GRANT_MALFORMED',
    'substitution-proof-shape-under-grant-typ',
    "a Proof's payload under the typ of a Grant",
    { P1: false },
    (s) => {
      s.grant.editPayload = () =>
        Buffer.from(proofToken(honestScene()).split('.')[1] ?? '', 'base64url').toString();
    },
  ),
  deny(
    'PROOF_MALFORMED',
    'substitution-grant-shape-under-proof-typ',
    "a Grant's payload under the typ of a Proof",
    { P8: false },
    (s) => {
      s.proof.editPayload = () =>
        Buffer.from(grantToken(honestScene()).split('.')[1] ?? '', 'base64url').toString();
    },
  ),
  deny(
    'GRANT_MALFORMED',
    'substitution-status-list-by-principal',
    "a status list signed with the Principal's key",
    { P1: false },
    (s) => {
      s.grant.editPayload = () =>
        Buffer.from(STATUS_LISTS.current.jws.split('.')[1] ?? '', 'base64url').toString();
    },
  ),
];

export const cases: readonly VectorCase[] = [...substituted, ...RELABELLED];
