/** A service with a status key from a fixed seed, its Receipt ids, and the checkpoints of its closed days. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { DAY_MS } from '@svc/codec';
import { privateKeyOfSeed } from '@svc/codec/native';
import { CompactRange, parseHash } from '@svc/merkle';
import { encodeMultikey, encodeUlid, type Signer } from '@svc/protocol';
import { buildCheckpoint, type Checkpoint, dayAfter, leafOfReceipt } from '../src/index.ts';

export const SERVICE = 'did:web:svc.example';
export const KID = `${SERVICE}#status-1`;
const keyOf = (seed: number): KeyObject => privateKeyOfSeed(Buffer.alloc(32, seed));

export const publicKeyOf = (seed: number): Uint8Array =>
  new Uint8Array(Buffer.from(createPublicKey(keyOf(seed)).export({ format: 'jwk' }).x ?? '', 'base64url'));

export const signerOf = (seed: number, kid = KID): Signer => ({
  kid,
  sign: (bytes) => new Uint8Array(sign(null, bytes, keyOf(seed))),
});

const methodOf = (id: string, publicKey: Uint8Array, time: object = {}) => ({
  ...{ id, type: 'Multikey', controller: SERVICE, publicKeyMultibase: encodeMultikey(publicKey) },
  ...time,
});

/** The service's DID document: keys by their fragment, each with the time when it is in force. */
export const documentWith = (
  keys: Readonly<Record<string, { readonly publicKey: Uint8Array; readonly time?: object }>>,
) => {
  const methods = Object.entries(keys).map(([fragment, { publicKey, time }]) =>
    methodOf(`${SERVICE}#${fragment}`, publicKey, time),
  );
  return { id: SERVICE, verificationMethod: methods, assertionMethod: methods.map(({ id }) => id) };
};

export const serviceDocument = documentWith({
  'receipt-1': { publicKey: publicKeyOf(1) },
  'status-1': { publicKey: publicKeyOf(2) },
});

/** `count` ids of the day, in order. */
export const receiptsOf = (day: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const atMs = Date.parse(day) + Math.floor((i * DAY_MS) / count);
    return `drc_${encodeUlid(atMs, new Uint8Array(10).fill(i % 256))}`;
  });

/** The checkpoint of a day with these Receipts, closed five minutes after its end. */
export const close = (day: string, receipts: readonly string[], previous: Checkpoint | null): Checkpoint => {
  const range = new CompactRange();
  for (const id of receipts) range.push(leafOfReceipt(id));
  return buildCheckpoint({
    serviceDid: SERVICE,
    day,
    treeSize: receipts.length,
    root: range.root(),
    previousRoot: previous && parseHash(previous.root.slice('sha256:'.length)),
    firstReceiptId: receipts[0] ?? null,
    lastReceiptId: receipts.at(-1) ?? null,
    closedAtSeconds: Date.parse(day) / 1000 + 86_400 + 300,
  });
};

/** The checkpoints of consecutive days, with the given numbers of Receipts. */
export const closeDays = (firstDay: string, counts: readonly number[]): Checkpoint[] => {
  const checkpoints: Checkpoint[] = [];
  let day = firstDay;
  for (const count of counts) {
    checkpoints.push(close(day, receiptsOf(day, count), checkpoints.at(-1) ?? null));
    day = dayAfter(day);
  }
  return checkpoints;
};
