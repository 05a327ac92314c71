/**
 * vectors/merkle.json: roots, inclusion proofs and checkpoints (protocol §12, RFC 6962 §2.1). Cases to be refused state
 * why. Which checkpoints verify is written by hand, and the generator fails if the code disagrees.
 */

import {
  CompactRange,
  formatHash,
  hashLeaf,
  type Inclusion,
  MerkleTree,
  parseHash,
  verifyInclusion,
} from '@svc/merkle';
import { DAY_MS, encodeBase64url, encodeUlid, encodeUtf8, type JsonValue, jcs } from '@svc/protocol';
import {
  buildCheckpoint,
  CHECKPOINT_TYP,
  type Checkpoint,
  dayAfter,
  leafOfReceipt,
  verifyCheckpoint,
} from '@svc/transparency';
import { KEYS, keysFile, RECEIPT_KID, SERVICE_DID, STATUS_KID, type TestKey } from './test-keys.ts';

const DAY = '2026-11-19';
const RECEIPTS = 17;

/** Ids from the whole day: at its first and its last millisecond, and two in the same millisecond. */
const receiptIds = (day: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const offsetMs = i === count - 1 ? DAY_MS - 1 : i < 2 ? 0 : i * 4_000_001;
    return `drc_${encodeUlid(Date.parse(day) + offsetMs, new Uint8Array(10).fill(i))}`;
  });

const RECEIPT_IDS = receiptIds(DAY, RECEIPTS);
const LEAVES = RECEIPT_IDS.map((id) => leafOfReceipt(id));
const treeOf = (size: number): MerkleTree => new MerkleTree(LEAVES.slice(0, size));

const rootCases = () =>
  Array.from({ length: RECEIPTS + 1 }, (_, size) => ({ size, root: formatHash(treeOf(size).root) }));

const numberedCases = () =>
  [
    [256, 'one full tile'],
    [257, 'a tile and a leaf'],
    [1000, 'four tiles, the last one not full'],
    [65_537, 'more than 256 tiles'],
  ].map(([size, description]) => {
    const range = new CompactRange();
    for (let i = 0; i < Number(size); i++) range.push(hashLeaf(String(i)));
    return { description, size, root: formatHash(range.root()) };
  });

type InclusionCase = readonly [
  description: string,
  inclusion: Inclusion,
  root: Uint8Array,
  expected: boolean,
];

const goodProofs = (): InclusionCase[] =>
  [1, 2, 3, 4, 5, 7, 8, 16, 17].flatMap((size) => {
    const tree = treeOf(size);
    const all = Array.from({ length: size }, (_, index) => index);
    const indexes = size <= 8 ? all : [0, 7, 8, size - 1];
    return indexes.map(
      (index): InclusionCase => [`leaf ${index} of ${size}`, tree.proveInclusion(index), tree.root, true],
    );
  });

const refusedProofs = (): InclusionCase[] => {
  const { root } = treeOf(7);
  const good = treeOf(7).proveInclusion(2);
  const { path, leafHash } = good;
  const [first = leafHash, second = leafHash] = path;
  const flipped = Uint8Array.from(first);
  flipped[0] = (flipped[0] ?? 0) ^ 1;
  const lastLeaf = treeOf(7).proveInclusion(6);
  return [
    ['another leaf', { ...good, leafHash: LEAVES[3] ?? leafHash }, root, false],
    ['another index', { ...good, index: 3 }, root, false],
    ['the index after the last', { ...good, index: 7 }, root, false],
    ['a negative index', { ...good, index: -1 }, root, false],
    ['a size in which the way to the leaf is longer', { ...good, size: 9 }, root, false],
    ['a size in which the way to the leaf is shorter', { ...good, size: 4 }, root, false],
    ['a size that makes the last leaf have another neighbour', { ...lastLeaf, size: 8 }, root, false],
    ['a tree without leaves', { ...good, index: 0, size: 0, path: [] }, treeOf(0).root, false],
    ['a flipped bit in the path', { ...good, path: [flipped, ...path.slice(1)] }, root, false],
    ['two steps of the path swapped', { ...good, path: [second, first, ...path.slice(2)] }, root, false],
    ['a step missing at the leaf', { ...good, path: path.slice(1) }, root, false],
    ['a step missing at the root', { ...good, path: path.slice(0, -1) }, root, false],
    ['a step too many', { ...good, path: [...path, root] }, root, false],
    [
      'a path where the leaf is the root',
      { ...treeOf(1).proveInclusion(0), path: [leafHash] },
      treeOf(1).root,
      false,
    ],
    ['the root of another tree', good, treeOf(8).root, false],
    // A node is not a leaf: with the same prefix, the first node of the tree could be presented as a leaf.
    [
      'a node in the place of a leaf',
      { leafHash: treeOf(2).root, index: 0, size: 3, path: [LEAVES[2] ?? leafHash] },
      treeOf(4).root,
      false,
    ],
  ];
};

const inclusionCase = ([description, inclusion, root, expected]: InclusionCase) => {
  if (verifyInclusion(inclusion, root) !== expected) throw new Error(`merkle.json: ${description}`);
  return {
    description,
    leaf: formatHash(inclusion.leafHash),
    leaf_index: inclusion.index,
    tree_size: inclusion.size,
    audit_path: inclusion.path.map(formatHash),
    root: formatHash(root),
    expected,
  };
};

const closeDay = (day: string, count: number, previous: Checkpoint | null): Checkpoint => {
  const ids = receiptIds(day, count);
  return buildCheckpoint({
    serviceDid: SERVICE_DID,
    day,
    treeSize: count,
    root: new MerkleTree(ids.map((id) => leafOfReceipt(id))).root,
    previousRoot: previous && parseHash(previous.root.slice('sha256:'.length)),
    firstReceiptId: ids[0] ?? null,
    lastReceiptId: ids.at(-1) ?? null,
    closedAtSeconds: Date.parse(dayAfter(day)) / 1000 + 240,
  });
};

const first = closeDay('2026-11-17', 1, null);
const empty = closeDay('2026-11-18', 0, first);
const full = closeDay(DAY, RECEIPTS, empty);

interface Signing {
  readonly key?: TestKey;
  readonly header?: { readonly [member: string]: JsonValue };
  /** The text to sign instead of the RFC 8785 form. */
  readonly text?: string;
}

const signed = (payload: object, { key = KEYS.status, header, text }: Signing = {}): string => {
  const protectedHeader = jcs({ alg: 'EdDSA', kid: STATUS_KID, typ: CHECKPOINT_TYP, ...header });
  const body = text ?? jcs(JSON.parse(JSON.stringify(payload)) as JsonValue);
  const input = `${encodeBase64url(encodeUtf8(protectedHeader))}.${encodeBase64url(encodeUtf8(body))}`;
  return `${input}.${encodeBase64url(key.sign(encodeUtf8(input)))}`;
};

const refusedCheckpoints = (): readonly (readonly [string, string])[] => [
  ['signed by the Receipt key', signed(full, { key: KEYS.receipt, header: { kid: RECEIPT_KID } })],
  ['signed by another key than its kid names', signed(full, { key: KEYS.receipt })],
  ['a kid that is not published', signed(full, { header: { kid: `${SERVICE_DID}#status-2` } })],
  ['of another service', signed({ ...full, iss: 'did:web:other.example' })],
  ['the typ of a Receipt', signed(full, { header: { typ: 'svc-receipt+jwt' } })],
  ['the algorithm named Ed25519', signed(full, { header: { alg: 'Ed25519' } })],
  ['a further header member', signed(full, { header: { cty: 'json' } })],
  [
    'members in another order',
    signed(full, {
      text: JSON.stringify(Object.fromEntries([['tree_size', full.tree_size], ...Object.entries(full)])),
    }),
  ],
  ['white space in the payload', signed(full, { text: JSON.stringify(full, null, 1) })],
  ['a further member', signed({ ...full, note: '' })],
  ['a member missing', signed({ ...full, previous_root: undefined })],
  ['a day that there is not', signed({ ...full, day: '2026-11-31' })],
  ['another tree', signed({ ...full, tree: 'rfc9162-sha256' })],
  ['a root in upper case', signed({ ...full, root: `sha256:${full.root.slice(7).toUpperCase()}` })],
  ['closed before the day had ended', signed({ ...full, iat: Date.parse(dayAfter(DAY)) / 1000 - 1 })],
  ['a first Receipt of the day before', signed({ ...full, first_receipt_id: first.first_receipt_id })],
  [
    'the last Receipt in front of the first',
    signed({ ...full, first_receipt_id: full.last_receipt_id, last_receipt_id: full.first_receipt_id }),
  ],
  ['a day with Receipts that names no last one', signed({ ...full, last_receipt_id: null })],
  ['an empty day that names Receipts', signed({ ...full, tree_size: 0, root: empty.root })],
  ['an empty day with a root', signed({ ...empty, root: full.root })],
  ['a day of one Receipt whose root is not its leaf', signed({ ...first, root: full.root })],
];

const SERVICE_DOCUMENT = keysFile().service_did_document;

const checkpointCase = (description: string, checkpoint: string, expected: Checkpoint | null) => {
  const verified = verifyCheckpoint({ checkpoint, serviceDidDocument: SERVICE_DOCUMENT });
  if (verified.ok !== (expected !== null)) throw new Error(`merkle.json: ${description}`);
  return { description, checkpoint, expected };
};

export const merkleFile = () => ({
  description:
    'RFC 6962 trees over Receipt ids: roots, inclusion proofs, and checkpoints under the keys of keys.json. Hashes are lower-case hex.',
  receipts: { day: DAY, ids: RECEIPT_IDS, leaves: LEAVES.map(formatHash) },
  roots: rootCases(),
  numbered_rule: 'leaf i is SHA-256(0x00 || i in decimal), i from 0 on',
  numbered: numberedCases(),
  inclusion: [...goodProofs(), ...refusedProofs()].map(inclusionCase),
  checkpoints: [
    checkpointCase('the first day: no previous root', signed(first), first),
    checkpointCase('an empty day: the root of nothing', signed(empty), empty),
    checkpointCase('the day after it', signed(full), full),
    ...refusedCheckpoints().map(([description, checkpoint]) => checkpointCase(description, checkpoint, null)),
  ],
});
