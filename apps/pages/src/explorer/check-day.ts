/**
 * Checks the checkpoint of a day, part by part: who signed it, whether it is shown as signed, and whether it is in the
 * chain.
 */

import { portableCrypto } from '@svc/protocol';
import {
  findOtherCheckpoint,
  parseSignedCheckpoint,
  readServiceKeys,
  type ServiceKeys,
  verifyAttestation,
  verifyCheckpoint,
} from '@svc/transparency';
import type { Part } from '../shared/part.ts';
import type { Checkpoint } from '../shared/wire.ts';
import { isOpen } from './open.ts';

/** The service whose signatures are accepted. */
export interface Service {
  readonly did: string;
  readonly keys: ServiceKeys;
  /** The text of its DID document. */
  readonly document: string;
}

/**
 * Reads the text of a DID document.
 *
 * @throws Error where the text is not a DID document
 */
export const readService = (documentText: string): Service => {
  const read = readServiceKeys(documentText);
  if (!read.ok) throw new Error('The service’s DID document cannot be read.');
  return { did: read.keys.did, keys: read.keys, document: documentText };
};

/**
 * Checks a checkpoint. `previous` is the checkpoint of the day before, where it is known. `attestation` is the
 * service's attestation of a Receipt of the day, needed where the key of the checkpoint is no longer in force. Without
 * it the signature is not judged, nor where the document does not have the key: neither is known to be wrong.
 */
export const checkDay = (
  shown: Checkpoint,
  previous: Checkpoint | null,
  { keys }: Service,
  attestation?: string,
): readonly Part[] => {
  const signed = verifyShown(shown.checkpoint, keys, attestation);
  const isFirst = shown.previous_root === null;
  const signature = part(
    'signature',
    'Signature',
    'The service signed this checkpoint.',
    signed.ok ? [] : signed.failures,
  );
  return [
    !signed.ok && isOpen(signed.failures) ? { ...signature, state: 'unchecked' } : signature,
    signed.ok
      ? part('content', 'Content', 'What is shown is what was signed.', differences(shown, signed.checkpoint))
      : { ...part('content', 'Content', '', []), state: 'unchecked' },
    part(
      'chain',
      'Chain',
      isFirst ? 'The first day of this service.' : 'It names the root of the day before.',
      previous === null || previous.root === shown.previous_root
        ? []
        : [
            {
              code: 'broken-chain',
              message: `The day before has root ${previous.root}, this one names ${shown.previous_root}.`,
            },
          ],
    ),
  ];
};

const verifyShown = (text: string, keys: ServiceKeys, attestation: string | undefined) => {
  const verified = verifyCheckpoint({ checkpoint: text, serviceDidDocument: keys });
  if (verified.ok || attestation === undefined || !isUntimely(verified.failures)) return verified;
  const attested = verifyAttestation(attestation, keys, portableCrypto);
  if (!attested.ok) return attested;
  const other = findOtherCheckpoint(attested.attestation, text, portableCrypto);
  if (other === null) return parseSignedCheckpoint(text);
  const message = `The attestation ${other}.`;
  return { ok: false as const, failures: [{ code: 'wrong-attestation', message }] };
};

/** Whether the key's time in force is the only fault; form and signature are then right. */
const isUntimely = (failures: Part['failures']): boolean =>
  failures.every(({ code }) => code === 'key-not-in-force');

const part = (id: string, name: string, means: string, failures: Part['failures']): Part => ({
  ...{ id, name, means, failures },
  state: failures.length === 0 ? 'ok' : 'wrong',
});

const SIGNED_MEMBERS = [
  ...(['day', 'tree_size', 'root', 'previous_root'] as const),
  ...(['first_receipt_id', 'last_receipt_id', 'tree'] as const),
];

type Signed = Pick<Checkpoint, (typeof SIGNED_MEMBERS)[number]>;

const differences = (shown: Signed, signed: Signed): Part['failures'] =>
  SIGNED_MEMBERS.filter((name) => shown[name] !== signed[name]).map((name) => ({
    code: 'payload-mismatch',
    message: `${name} must be ${signed[name]} as signed, not ${shown[name]}.`,
  }));
