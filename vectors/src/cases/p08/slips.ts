/**
 * P8: faults that the cases about single rules do not detect: an array of one text instead of the text, limits off by
 * one.
 */
import { GRANT_ID, PURCHASE, type Scene } from '../../scene.ts';
import { RP_DID } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const proofPayload = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.proof.payload, members);
};

/** The longest method that is allowed: one letter, repeated. */
const LONGEST_METHOD = 'M'.repeat(32);

export const cases: readonly VectorCase[] = (
  [
    ...(['did:web:agent.example', 'did:key:z6MkNoKey', 'did:key:'] as const).map(
      (iss, i) =>
        [
          `iss-is-no-key-${i + 1}`,
          `kid fits iss, which is no did:key of Ed25519: ${iss}`,
          (s: Scene) => {
            s.proof.header.kid = `${iss}#${iss.slice('did:key:'.length)}`;
            s.proof.payload.iss = iss;
          },
        ] as const,
    ),
    ['aud-array-of-one', 'the one relying party in an array', proofPayload({ aud: [RP_DID] })],
    ['grant-id-array', 'a Grant id is a text', proofPayload({ grant_id: [GRANT_ID] })],
    ['grant-id-with-more-behind', 'nothing stands behind it', proofPayload({ grant_id: `${GRANT_ID}0` })],
    ['htm-array', 'htm is a text', proofPayload({ htm: ['POST'] })],
    ['htm-33', 'htm has at most 32 letters', proofPayload({ htm: `${LONGEST_METHOD}M` })],
    ['htm-empty', 'htm has at least one letter', proofPayload({ htm: '' })],
    ['htu-array', 'htu is a text', proofPayload({ htu: ['https://shop.example/checkout'] })],
    ['jti-array', 'a nonce is a text', proofPayload({ jti: ['dGhlIG5vbmNlIG9mIGEgdGVzdA'] })],
    ['action-null', 'null is no Action', proofPayload({ action: null })],
    ['action-array', 'an Action in an array is none', proofPayload({ action: [PURCHASE] })],
  ] as const
).map(([id, description, edit]) =>
  deny('PROOF_MALFORMED', `p08-${id}`, description, { P8: false, P9: 'skipped' }, edit),
);
