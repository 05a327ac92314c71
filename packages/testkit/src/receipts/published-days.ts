/** A service with closed days, as a monitor reads it: the answer for each path, honest until a test changes it. */
import { emptyRoot, formatHash, MerkleTree } from '@svc/merkle';
import { dayStartMs, encodeUlid, portableCrypto, type Signer, sha256Of } from '@svc/protocol';
import {
  buildCheckpoint,
  type Checkpoint,
  dayAfter,
  leafOfReceipt,
  parseSignedCheckpoint,
  signCheckpoint,
} from '@svc/transparency';
import type { Source } from '@svc/transparency/monitor';
import { SERVICE, serviceDocument, statusSigner } from './world.ts';

export interface Served {
  readonly status: number;
  /** A body, or its pieces. */
  readonly body: string | (() => AsyncIterable<Uint8Array>);
}

export interface PublishedDay {
  readonly checkpoint: Checkpoint;
  readonly jws: string;
  readonly leaves: readonly string[];
}

export const FIRST_DAY = '2026-11-10';

/** Ids of a day; another `seed` gives other ids. */
const idsOf = (day: string, size: number, seed = 1): string[] =>
  Array.from({ length: size }, (_, i) => {
    return `drc_${encodeUlid(dayStartMs(day) + i, new Uint8Array(10).fill(seed))}`;
  });

export interface DayDraft {
  readonly day: string;
  readonly size: number;
  readonly previousRoot: string | null;
  readonly seed?: number;
  readonly signer?: Signer;
  readonly serviceDid?: string;
  /** Default: one second after the end of the day. */
  readonly closedAtSeconds?: number;
}

export const closeDay = async (draft: DayDraft): Promise<PublishedDay> => {
  const { day, size, previousRoot, seed, signer = statusSigner, serviceDid = SERVICE } = draft;
  const { closedAtSeconds = dayStartMs(dayAfter(day)) / 1000 + 1 } = draft;
  const ids = idsOf(day, size, seed);
  const hashes = ids.map((id) => leafOfReceipt(id));
  const checkpoint = buildCheckpoint({
    ...{ serviceDid, day, treeSize: size },
    root: size === 0 ? emptyRoot() : new MerkleTree(hashes).root,
    previousRoot: previousRoot === null ? null : Buffer.from(previousRoot.slice(7), 'hex'),
    firstReceiptId: ids[0] ?? null,
    lastReceiptId: ids.at(-1) ?? null,
    closedAtSeconds,
  });
  return { checkpoint, jws: await signCheckpoint(checkpoint, signer), leaves: hashes.map(formatHash) };
};

/** The answer of `GET /checkpoints/{day}`. */
export const recordOf = (jws: string): string => {
  const signed = parseSignedCheckpoint(jws);
  if (!signed.ok) throw new Error('no checkpoint');
  const { iss, iat, ...published } = signed.checkpoint;
  const { day } = published;
  return JSON.stringify({
    ...published,
    ...{ kid: signed.kid, checkpoint: jws, checkpoint_hash: sha256Of(portableCrypto, jws) },
    ...{
      leaves_url: `https://svc.example/checkpoints/${day}/leaves`,
      created_at: `${dayAfter(day)}T00:00:01Z`,
    },
  });
};

/** The answers of a service. A test may replace the answer of any path. */
export class PublishedDays {
  readonly days: PublishedDay[] = [];
  readonly #answers = new Map<string, Served>();
  /** Every path asked for, in order. */
  readonly asked: string[] = [];

  /** Closes the next day. */
  async close(size: number, draft: Partial<DayDraft> = {}): Promise<PublishedDay> {
    const last = this.days.at(-1);
    const day = await closeDay({
      day: last === undefined ? FIRST_DAY : dayAfter(last.checkpoint.day),
      previousRoot: last?.checkpoint.root ?? null,
      size,
      ...draft,
    });
    this.days.push(day);
    return day;
  }

  /** Replaces the answer of a path, until called with null. */
  answer(path: string, served: Served | null): void {
    if (served === null) this.#answers.delete(path);
    else this.#answers.set(path, served);
  }

  serve(path: string): Served {
    this.asked.push(path);
    const given = this.#answers.get(path);
    if (given !== undefined) return given;
    if (path === '/.well-known/did.json') return { status: 200, body: JSON.stringify(serviceDocument) };
    const [, name, what] = /^\/checkpoints\/([a-z0-9-]+)(\/leaves)?$/.exec(path) ?? [];
    const day =
      name === 'latest' ? this.days.at(-1) : this.days.find(({ checkpoint }) => checkpoint.day === name);
    if (day === undefined)
      return { status: 404, body: '{"error":"NOT_FOUND","message":"It is not closed."}' };
    if (what === undefined) return { status: 200, body: recordOf(day.jws) };
    return { status: 200, body: day.leaves.map((leaf) => `${leaf}\n`).join('') };
  }

  /** Reads without a network; bodies arrive in pieces of seven bytes. */
  source(): Source {
    return {
      fetchText: async (path) => {
        const { status, body } = this.serve(path);
        return { status, text: typeof body === 'string' ? body : '' };
      },
      fetchStream: async (path) => {
        const { status, body } = this.serve(path);
        return { status, pieces: typeof body === 'string' ? piecesOf(body) : body() };
      },
    };
  }
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}
