/**
 * The present keys of the service: the private parts from its key files, and the times from the database, which stores
 * every key that was ever published and when it ended (protocol §8). Within a second after a key has ended, no node
 * signs with it any more. Then the key files are read again: if their first key is in force, it signs from then on.
 */
import { isDeepStrictEqual } from 'node:util';
import { type DidWeb, decodeMultikey } from '@svc/protocol';
import { findUntimely, type KeyTime } from '@svc/transparency';
import { serviceUnavailable } from '../errors.ts';
import type { Holds } from '../lib/holds.ts';
import type { Log } from '../ports/platform.ts';
import type { ServiceKeyRecord } from '../ports/service-keys.ts';
import { type Store, StoreError } from '../ports/store.ts';
import {
  type KeyPurpose,
  type KeySet,
  KeySetError,
  type PublishedKey,
  type ServiceSigner,
} from './key-set.ts';
import { rememberServiceKeys } from './remember-service-keys.ts';
import type { PublishedIdentity } from './service-identity.ts';

const READ_EVERY_MS = 1_000;

export interface ServiceKeySets {
  readonly receiptKeys: KeySet;
  readonly statusKeys: KeySet;
}

export interface KeyRingDeps {
  readonly store: Pick<Store, 'transaction' | 'serviceKeys'>;
  readonly holds: Pick<Holds, 'set' | 'list'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly did: string;
  /** Former DIDs of the service. */
  readonly formerDids: readonly DidWeb[];
  /** Reads the key files again. Rejects with `KeySetError`. */
  readonly load: () => Promise<ServiceKeySets>;
  /** Closes all signers that `load` has opened, except these. The closed ones are not used any more. */
  readonly closeAllBut: (used: readonly ServiceSigner[]) => void;
}

export class KeyRing implements ServiceKeySets {
  receiptKeys: KeySet;
  statusKeys: KeySet;
  formers: readonly PublishedIdentity[] = [];
  private readonly timer: NodeJS.Timeout;
  private reading: Promise<void> | null = null;
  private ended: ReadonlyMap<string, string> = new Map();
  private statusFault: string | null = null;
  /** Why the present key files cannot be used; null: they can. */
  private filesFault: string | null = null;

  private constructor(
    private readonly deps: KeyRingDeps,
    private sets: ServiceKeySets,
  ) {
    this.receiptKeys = sets.receiptKeys;
    this.statusKeys = sets.statusKeys;
    this.timer = setInterval(() => void this.refresh(), READ_EVERY_MS).unref();
  }

  /**
   * Stores the keys of the files in the database. Rejects with `KeySetError` where a kid named another key before,
   * where a key is new while the time is in doubt, or where the signing key has ended.
   */
  static async start(deps: KeyRingDeps, sets: ServiceKeySets): Promise<KeyRing> {
    await remember(deps, sets);
    const stored = await deps.store.serviceKeys.list();
    const ring = new KeyRing(deps, sets);
    ring.take(sets, stored);
    const problem = ring.findProblem();
    if (problem === null) return ring;
    ring.stop();
    throw new KeySetError(problem);
  }

  /** Reads again which keys have ended. Keeps the known state when storage does not answer. */
  refresh(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async read(): Promise<void> {
    // Reading the files can wait longer than that for a signer that does not answer (watched-signer.ts of
    // @svc/signers).
    const late = setTimeout(() => this.note(), READ_EVERY_MS).unref();
    try {
      this.take(this.sets, await this.deps.store.serviceKeys.list());
      if (this.findProblem() !== null) await this.takeFiles();
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof KeySetError)) throw error;
      if (error instanceof KeySetError) this.filesFault = error.message;
    } finally {
      clearTimeout(late);
    }
    this.note();
  }

  private note(): void {
    this.deps.holds.set('keys', this.findProblem());
    this.deps.holds.set('signer', faultOf(this.receiptKeys));
    this.noteStatusSigner(faultOf(this.statusKeys));
  }

  /**
   * Logs faults of the status signer. Only publication of revocations and closing of days need it, so decisions go on.
   */
  private noteStatusSigner(fault: string | null): void {
    if ((fault === null) === (this.statusFault === null)) return;
    const { kid } = this.statusKeys.signer;
    if (fault === null) this.deps.log.warn('signer.back', { kid, reason: this.statusFault });
    else this.deps.log.error('signer.gone', { kid, reason: fault });
    this.statusFault = fault;
  }

  /** Uses the present key files, if their first keys can sign. */
  private async takeFiles(): Promise<void> {
    const sets = await this.deps.load();
    await remember(this.deps, sets);
    this.take(sets, await this.deps.store.serviceKeys.list());
    this.filesFault = null;
    this.deps.closeAllBut([sets.receiptKeys.signer, sets.statusKeys.signer]);
    if (this.findProblem() !== null) return;
    const [receipt, status] = [this.receiptKeys.signer.kid, this.statusKeys.signer.kid];
    // An empty kid: the process has no receipt key of its own (`keysOfOthers`).
    this.deps.log.info('keys.taken', receipt === '' ? { status } : { receipt, status });
  }

  private take(sets: ServiceKeySets, records: readonly ServiceKeyRecord[]): void {
    const own = records.filter(({ kid }) => kid.startsWith(`${this.deps.did}#`));
    this.ended = new Map(
      own.flatMap((record) => (isEnded(record) ? [[record.kid, describeEnd(record)]] : [])),
    );
    this.sets = sets;
    this.receiptKeys = this.build(sets.receiptKeys, 'receipt', own, this.receiptKeys);
    this.statusKeys = this.build(sets.statusKeys, 'status', own, this.statusKeys);
    this.formers = this.deps.formerDids.map((did) => ({
      did,
      receiptKeys: { published: publishedUnder(did, 'receipt', records) },
      statusKeys: { published: publishedUnder(did, 'status', records) },
    }));
  }

  private build(
    { signer, published }: KeySet,
    purpose: KeyPurpose,
    records: readonly ServiceKeyRecord[],
    former: KeySet,
  ): KeySet {
    const byKid = new Map(records.map((record) => [record.kid, record]));
    const fromFile = published.map((key) => ({ ...key, time: timeOf(byKid.get(key.kid)) ?? key.time }));
    const listed = new Set(published.map(({ kid }) => kid));
    const known = publishedUnder(this.deps.did, purpose, records);
    const others = known.filter(({ kid }) => !listed.has(kid));
    return { signer: this.guard(signer), published: keptIfAlike(former.published, [...fromFile, ...others]) };
  }

  /** A signer that throws once its key has ended. */
  private guard(signer: ServiceSigner): ServiceSigner {
    const { kid } = signer;
    return {
      ...signer,
      sign: (bytes) => {
        const end = this.ended.get(kid);
        if (end !== undefined) throw serviceUnavailable(`the key ${kid} ${end}`);
        return signer.sign(bytes);
      },
    };
  }

  private findProblem(): string | null {
    for (const { signer } of [this.sets.receiptKeys, this.sets.statusKeys]) {
      const end = this.ended.get(signer.kid);
      if (end === undefined) continue;
      const files =
        this.filesFault === null ? '' : `. What the files say now is not taken: ${this.filesFault}`;
      return `${signer.kid} ${end} and signs nothing more: put a new key first in its file (docs/operations.md, Keys)${files}`;
    }
    return null;
  }
}

/** Why something dated `atMs` is not valid under this key because of its date; null where it is. */
export const findUntimelyKey = (
  keys: Pick<KeySet, 'published'>,
  kid: string,
  atMs: number,
): string | null => {
  const key = keys.published.find((published) => published.kid === kid);
  return key === undefined ? 'is not published' : findUntimely(key.time, atMs);
};

/**
 * Stores the keys. The database dates a key when it first stores it, and no earlier signature of the key is valid. So a
 * new key is refused while the time is in doubt.
 */
const remember = async ({ store, holds }: KeyRingDeps, sets: ServiceKeySets): Promise<void> => {
  const doubt = holds.list().find(({ name }) => name === 'clock');
  if (doubt !== undefined) {
    const known = new Set((await store.serviceKeys.list()).map(({ kid }) => kid));
    const published = [...sets.receiptKeys.published, ...sets.statusKeys.published];
    const added = published.find(({ kid }) => !known.has(kid));
    if (added !== undefined)
      throw new KeySetError(
        `${added.kid} is new, and would be dated while the time is in doubt: ${doubt.reason}`,
      );
  }
  await rememberServiceKeys(store, sets);
};

const faultOf = ({ signer }: KeySet): string | null => signer.findFault?.() ?? null;

const isEnded = ({ retiredAtMs, compromisedAtMs }: ServiceKeyRecord): boolean =>
  retiredAtMs !== null || compromisedAtMs !== null;

const describeEnd = ({ retiredAtMs, compromisedAtMs }: ServiceKeyRecord): string => {
  const at = new Date(compromisedAtMs ?? retiredAtMs ?? 0).toISOString();
  return compromisedAtMs === null ? `is retired since ${at}` : `is compromised since ${at}`;
};

/**
 * The published time of a key, in whole seconds as in status lists and checkpoints. It is rounded so that nothing that
 * was signed in time is outside.
 */
const timeOf = (record: ServiceKeyRecord | undefined): KeyTime | null => {
  if (record === undefined) return null;
  const { firstSeenAtMs, retiredAtMs, compromisedAtMs } = record;
  const ends = [
    ...(retiredAtMs === null ? [] : [Math.ceil(retiredAtMs / 1000) * 1000]),
    ...(compromisedAtMs === null ? [] : [Math.floor(compromisedAtMs / 1000) * 1000]),
  ];
  return {
    fromMs: Math.floor(firstSeenAtMs / 1000) * 1000,
    untilMs: ends.length === 0 ? null : Math.min(...ends),
    isCompromised: compromisedAtMs !== null,
  };
};

/** Keys of a DID and purpose, as the database has them. */
const publishedUnder = (
  did: string,
  purpose: KeyPurpose,
  records: readonly ServiceKeyRecord[],
): PublishedKey[] => records.filter(({ kid }) => kid.startsWith(`${did}#${purpose}-`)).flatMap(publishedOf);

const publishedOf = (record: ServiceKeyRecord): PublishedKey[] => {
  const { kid, publicKeyMultibase } = record;
  const publicKey = decodeMultikey(publicKeyMultibase);
  const time = timeOf(record);
  return publicKey === null || time === null
    ? []
    : [{ kid, publicKey, publicKeyMultibase, canSign: false, time }];
};

/**
 * The former list where the new one says the same. Whoever keeps what was checked under a list compares it by identity,
 * and it is read each second.
 */
const keptIfAlike = (
  former: readonly PublishedKey[],
  published: readonly PublishedKey[],
): readonly PublishedKey[] => (isDeepStrictEqual(former, published) ? former : published);
