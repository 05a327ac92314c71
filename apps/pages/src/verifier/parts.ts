/**
 * Presents a verification part by part: which are right, which are wrong and why, and which could not be judged because
 * another is wrong. Every failure code of `@svc/receipts` belongs to one part; a new code without a part does not
 * compile.
 */
import { type Failure, type FailureCode, verdictOf } from '@svc/receipts';
import type { BundleFailureCode } from '@svc/receipts/bundle';
import type { Part, PartState } from '../shared/part.ts';

interface PartRule {
  readonly id: ReceiptPartId;
  readonly name: string;
  readonly means: string;
  /** Parts without which this one cannot be judged. */
  readonly needs: readonly ReceiptPartId[];
}

export type ReceiptPartId =
  | 'text'
  | 'jws'
  | 'document'
  | 'key'
  | 'signature'
  | 'time'
  | 'shown'
  | 'members'
  | 'checks'
  | 'decision'
  | 'agreement'
  | 'evidence';

const RULES: readonly PartRule[] = [
  { id: 'text', name: 'Text', means: 'It is one JSON object, which every reader takes alike.', needs: [] },
  {
    id: 'jws',
    name: 'Signed text',
    means: 'The JWS has the one form that a Receipt’s can have: three canonical parts, header and payload.',
    needs: ['text'],
  },
  {
    id: 'document',
    name: 'Service document',
    means: 'The pinned DID document can be read and is of the service that the signature names.',
    needs: ['jws'],
  },
  {
    id: 'key',
    name: 'Signing key',
    means: 'The document publishes the key, for Receipts, and the key is a sound one.',
    needs: ['document'],
  },
  { id: 'signature', name: 'Signature', means: 'The service signed exactly this.', needs: ['key'] },
  {
    id: 'time',
    name: 'Key in force',
    means: 'It is dated when its key was in force, or a bundle brings the service’s attestation of it.',
    needs: ['signature'],
  },
  {
    id: 'members',
    name: 'Members',
    means: 'Each member is there once, known, and of the right form.',
    needs: ['text'],
  },
  {
    id: 'shown',
    name: 'Shown as signed',
    means: 'Every member reads as it was signed.',
    needs: ['jws', 'members'],
  },
  {
    id: 'checks',
    name: 'Checks',
    means: 'The outcomes follow from each other as the published table has it.',
    needs: ['members'],
  },
  {
    id: 'decision',
    name: 'Decision',
    means: 'Decision and reason are the ones that the checks lead to.',
    needs: ['members'],
  },
  {
    id: 'agreement',
    name: 'Agreement',
    means: 'Times, identities and authority do not contradict each other, and none is there too early.',
    needs: ['members'],
  },
  {
    id: 'evidence',
    name: 'Evidence',
    means: 'The evidence was fresh enough, under rules that are published.',
    needs: ['members'],
  },
];

const PART_OF: Readonly<Record<FailureCode, ReceiptPartId>> = {
  'malformed-receipt': 'text',
  'malformed-jws': 'jws',
  'wrong-header': 'jws',
  'payload-not-canonical': 'jws',
  'malformed-did-document': 'document',
  'wrong-service': 'document',
  'unknown-key': 'key',
  'wrong-key': 'key',
  'unusable-key': 'key',
  'wrong-signature': 'signature',
  'key-not-in-force': 'time',
  'payload-mismatch': 'shown',
  'missing-member': 'members',
  'unknown-member': 'members',
  'malformed-member': 'members',
  'wrong-outcome': 'checks',
  'wrong-result': 'checks',
  'unknown-profile': 'checks',
  'wrong-profile-hash': 'checks',
  'wrong-decision': 'decision',
  'wrong-reason': 'decision',
  'wrong-time': 'agreement',
  'wrong-presence': 'agreement',
  contradiction: 'agreement',
  'stale-evidence': 'evidence',
  'unknown-trust-config': 'evidence',
  'wrong-trust-config-hash': 'evidence',
};

const BUNDLE_PARTS = [
  {
    id: 'bundle',
    needsDocument: false,
    name: 'Bundle',
    means: 'Receipt, inclusion proof, checkpoint, DID document and evidence are all there.',
  },
  {
    id: 'artifacts',
    needsDocument: false,
    name: 'Evidence files',
    means: 'Each has the hash under which it stands, and all that the Receipt names are there.',
  },
  {
    id: 'checkpoint',
    needsDocument: true,
    name: 'Checkpoint',
    means: 'The service signed it, and it is the one that the proof is about.',
  },
  {
    id: 'inclusion',
    needsDocument: true,
    name: 'Inclusion',
    means: 'Hashed step by step, the path leads from this Receipt to the signed root of its day.',
  },
] as const;

/**
 * The service document and every part that depends on it, directly or not. Nothing vouches for them where no document
 * is pinned.
 */
const NEED_DOCUMENT: ReadonlySet<string> = RULES.reduce(
  (found, { id, needs }) => (needs.some((one) => found.has(one)) ? found.add(id) : found),
  new Set<string>([
    'document',
    ...BUNDLE_PARTS.flatMap(({ id, needsDocument }) => (needsDocument ? [id] : [])),
  ]),
);

/** The parts where no document is pinned: none is right that depends on a document from elsewhere. */
export const withoutDocument = (parts: readonly Part[]): readonly Part[] =>
  parts.map((part) =>
    NEED_DOCUMENT.has(part.id) && part.state === 'ok' ? { ...part, state: 'unchecked' } : part,
  );

type BundlePartId = (typeof BUNDLE_PARTS)[number]['id'];

/**
 * The parts of a bundle beside those of its Receipt. `failures` are those of the whole bundle; the Receipt's own parts
 * show its failures. Where the Receipt is not valid, checkpoint and inclusion can be wrong but not right.
 */
export const bundleParts = (
  failures: readonly Failure<BundleFailureCode>[],
  receiptIsValid: boolean,
): readonly Part[] => {
  const isComplete = !failures.some((one) => bundlePartOf(one) === 'bundle');
  return BUNDLE_PARTS.map(({ id, name, means }) => {
    const own = failures.filter((one) => bundlePartOf(one) === id);
    const isJudged = id === 'bundle' || (isComplete && (id === 'artifacts' || receiptIsValid));
    return {
      id,
      name,
      means,
      state: stateOf(own, isJudged),
      failures: own,
    };
  });
};

/** A failure that a later version, another document or a later day could judge otherwise is not wrong. */
const stateOf = (own: readonly Failure<BundleFailureCode>[], isJudged: boolean): PartState => {
  if (own.length === 0) return isJudged ? 'ok' : 'unchecked';
  return verdictOf(own) === 'undecided' ? 'unchecked' : 'wrong';
};

/** `path` is a JSON pointer into the bundle. */
const bundlePartOf = ({ code, path = '' }: Failure<BundleFailureCode>): BundlePartId | 'receipt' => {
  if (code === 'malformed-bundle' || (code === 'missing-member' && path.lastIndexOf('/') === 0))
    return 'bundle';
  if (code === 'wrong-evidence' || code === 'missing-evidence' || path.startsWith('/evidence'))
    return 'artifacts';
  // A Receipt's failure about its key or the document has no path in the bundle; an inclusion's has one.
  if (path === '' ? Object.hasOwn(PART_OF, code) : /^\/receipt(\/|$)/.test(path)) return 'receipt';
  if (code === 'malformed-checkpoint' || code === 'other-checkpoint') return 'checkpoint';
  return path === '/inclusion/checkpoint' ? 'checkpoint' : 'inclusion';
};

/** A fault of the member that holds the signed text leaves no signature to judge. */
const receiptPartOf = ({ code, path }: Failure): ReceiptPartId =>
  path === '/receipt' && PART_OF[code] === 'members' ? 'jws' : PART_OF[code];

/** The parts of a Receipt, in the order in which each builds on those before. Without failures all are right. */
export const receiptParts = (failures: readonly Failure[]): readonly Part[] => {
  const states = new Map<ReceiptPartId, PartState>();
  return RULES.map(({ id, name, means, needs }) => {
    const own = failures.filter((one) => receiptPartOf(one) === id);
    const blocked = needs.some((needed) => states.get(needed) !== 'ok');
    const state = stateOf(own, !blocked);
    states.set(id, state);
    return { id, name, means, state, failures: own };
  });
};
