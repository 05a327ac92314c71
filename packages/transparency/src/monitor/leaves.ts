/**
 * Recomputes the root of a day from its published leaves (interface §Public: one SHA-256 in hex per line). It keeps one
 * hash per tree level in memory, and stops reading at the first leaf beyond the signed size.
 */
import { CompactRange, formatHash, HASH_BYTES, type Sha256 } from '@svc/merkle';
import { leafOfReceipt } from '../checkpoint/day.ts';
import type { Checkpoint } from '../checkpoint/payload.ts';
import { type Source, SourceError } from './source.ts';

export type LeavesVerdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'wrong'; readonly expected: string; readonly found: string }
  | { readonly kind: 'unknown'; readonly message: string };

const LINE_BYTES = 2 * HASH_BYTES + 1;
const NEWLINE = 0x0a;
/** Their lines are 65 GB. No service has as many Receipts in a day, so a larger number is not even asked for. */
const MAX_LEAVES = 1_000_000_000;

export const leavesPath = (day: string): string => `/checkpoints/${day}/leaves`;

/** Whether the published leaves of a day match its checkpoint. */
export const checkLeaves = async (
  source: Source,
  checkpoint: Checkpoint,
  sha256: Sha256,
): Promise<LeavesVerdict> => {
  const { day, tree_size: size } = checkpoint;
  if (size > MAX_LEAVES) return { kind: 'unknown', message: `${size} leaves are too many to be read` };
  try {
    const { status, pieces } = await source.fetchStream(leavesPath(day), size * LINE_BYTES);
    if (status === 404) return wrong(`${size} leaves`, 'none: they are not there (404)');
    if (status !== 200) return { kind: 'unknown', message: `it answered ${status}` };
    return await readLeaves(pieces, checkpoint, sha256);
  } catch (error) {
    if (error instanceof SourceError) return { kind: 'unknown', message: error.message };
    throw error;
  }
};

const wrong = (expected: string, found: string): LeavesVerdict => ({ kind: 'wrong', expected, found });

const readLeaves = async (
  pieces: AsyncIterable<Uint8Array>,
  { tree_size: size, root, first_receipt_id: first, last_receipt_id: last }: Checkpoint,
  sha256: Sha256,
): Promise<LeavesVerdict> => {
  const range = new CompactRange(sha256);
  const reader = new LineReader();
  let [firstLeaf, lastLeaf] = ['', ''];
  for await (const piece of pieces) {
    for (const leaf of reader.read(piece)) {
      if (range.size === size) return wrong(`${size} leaves`, 'more of them');
      range.push(leaf);
      if (range.size === 1) firstLeaf = formatHash(leaf);
      if (range.size === size) lastLeaf = formatHash(leaf);
    }
    if (reader.isBroken)
      return wrong('64 lower-case hex characters in each line', `another line after ${range.size} leaves`);
  }
  if (reader.isWithinLine) return wrong(`${size} leaves`, `a line cut off after ${range.size} leaves`);
  if (range.size !== size) return wrong(`${size} leaves`, `${range.size}`);
  const found = `sha256:${formatHash(range.root())}`;
  if (found !== root) return wrong(`leaves with root ${root}`, `leaves with root ${found}`);
  for (const [id, leaf, place] of [[first, firstLeaf, 'first'] as const, [last, lastLeaf, 'last'] as const])
    if (id !== null && formatHash(leafOfReceipt(id, sha256)) !== leaf)
      return wrong(`${id} as the ${place} leaf`, `another Receipt's leaf ${leaf}`);
  return { kind: 'whole' };
};

/** Splits chunks of any size into lines of 64 hex digits. Each yielded hash is overwritten by the next. */
class LineReader {
  readonly #hash = new Uint8Array(HASH_BYTES);
  #at = 0;
  #isBroken = false;

  /** True after malformed input; nothing is read after that. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get isWithinLine(): boolean {
    return this.#at > 0;
  }

  *read(piece: Uint8Array): Generator<Uint8Array> {
    for (const byte of piece) {
      if (this.#at === LINE_BYTES - 1) {
        this.#isBroken = byte !== NEWLINE;
        if (this.#isBroken) return;
        this.#at = 0;
        yield this.#hash;
        continue;
      }
      const digit = HEX[byte] ?? NO_DIGIT;
      this.#isBroken = digit === NO_DIGIT;
      if (this.#isBroken) return;
      const place = this.#at >> 1;
      this.#hash[place] = this.#at % 2 === 0 ? digit << 4 : (this.#hash[place] ?? 0) | digit;
      this.#at += 1;
    }
  }
}

const NO_DIGIT = 255;

/** The value of each byte as a lower-case hex digit. */
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte));
  return digit < 0 ? NO_DIGIT : digit;
});
