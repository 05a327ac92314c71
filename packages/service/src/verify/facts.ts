/**
 * Answers the engine's look-ups. Principals and allocations are cached; what concurrent requests do not find in the
 * cache is loaded in one round trip. The cache is safe because the commit reads every version again: a stale entry
 * costs a second evaluation, never a wrong ALLOW. Absence is never cached.
 */
import {
  type AllocationFact,
  type Answer,
  absent,
  type CryptoPort,
  type DidDocument,
  type DocumentFact,
  type Facts,
  found,
  type Grant,
  type Presented,
  type PrincipalFact,
  parseDidDocument,
  type StatusFact,
  sha256Of,
  unavailable,
} from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { Batcher } from '../lib/batcher.ts';
import type { IssuerDocumentRecord, PrincipalRecord } from '../ports/principals.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { AllocatedGrant, FactsQuery, FactsRecord } from '../ports/verify-store.ts';
import { isDatedAhead } from '../principals/hosted-document.ts';
import { effectiveState } from '../principals/verification-state.ts';
import { DocumentRefresher } from './document-refresher.ts';
import { keyStateOf, withKnownKeys } from './known-keys.ts';
import { StatusListReader } from './status-list-reader.ts';

/** A Principal without the text of its document, which may be long and is not needed once it is parsed. */
interface LoadedPrincipal {
  readonly record: Omit<PrincipalRecord, 'document'> & {
    readonly document: Omit<IssuerDocumentRecord, 'body'> | null;
  };
  readonly document: DidDocument | null;
  readonly loadedAtMs: number;
}

/** The facts, and the version of the Principal with which they were read. */
export interface LoadedFacts {
  readonly facts: Facts;
  readonly usedPrincipal: Pick<PrincipalRecord, 'did' | 'version'> | null;
  /** The Grant is withheld: no decision may be an ALLOW that binds its id or draws on a budget. */
  readonly isWithheld: boolean;
}

const PRINCIPAL_REMEMBERED_MS = 60_000;
/** Limit of the cached Principals: room for more than 20,000 with one key each. */
const PRINCIPALS_MAX_BYTES = 64 * 2 ** 20;
const BYTES_OF_PRINCIPAL = 2_048;
const BYTES_OF_KEY = 640;
const NOTHING: LoadedFacts = { facts: {}, usedPrincipal: null, isWithheld: false };

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'identity' | 'log' | 'didResolver'>;

/** What facts are loaded for: the presented tokens, and the tenant of the caller. */
export interface FactsRequest {
  readonly presented: Presented;
  readonly tenant: Tenant;
  /** Called before the loader waits for a host outside the service. */
  readonly noteRemoteWait: () => void;
}

export class FactLoader {
  private readonly principals: LRUCache<string, LoadedPrincipal>;
  /** Principals that are cached for their documents alone: everything else of them is to be read again. */
  private readonly forgotten = new WeakSet<LoadedPrincipal>();
  private readonly grants = new LRUCache<string, AllocatedGrant>({ max: 50_000 });
  private readonly statusLists: StatusListReader;
  private readonly batcher: Batcher<FactsQuery, FactsRecord>;
  private readonly documents: DocumentRefresher;

  constructor(
    private readonly deps: Deps,
    maxBytes = PRINCIPALS_MAX_BYTES,
  ) {
    this.principals = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
    this.statusLists = new StatusListReader(deps);
    this.documents = new DocumentRefresher(deps);
    this.batcher = new Batcher((queries) => deps.store.verify.findFacts(queries));
  }

  /** Bytes of the cached Principals, as counted. */
  get size(): number {
    return this.principals.calculatedSize;
  }

  /**
   * Loads everything that the evaluation can ask for. Whether the Proof is spent is `proofSpent`, at first false: only
   * the commit can determine it, and answers `REPLAY` when it is. Rejects when storage does not answer.
   */
  async load(
    { presented: { grant }, tenant, noteRemoteWait }: FactsRequest,
    proofSpent: boolean,
  ): Promise<LoadedFacts> {
    if (!grant.ok) return NOTHING;
    const { principal: known, allocation } = await this.find(grant.value, tenant);
    const principal = known === null ? null : await this.withFreshDocument(known, noteRemoteWait);
    const status =
      allocation === null ? null : allocation.isPaused ? unavailable : await this.findStatus(allocation);
    return {
      facts: {
        principal:
          principal === null
            ? absent
            : found(principalFact(principal.record, grant.value.kid, this.deps.clock.nowMs())),
        document: principal === null ? absent : documentFact(principal),
        allocation: allocation === null ? absent : found(allocationFact(allocation, status === null)),
        status: status ?? absent,
        spent: found(proofSpent),
      },
      usedPrincipal: principal === null ? null : versionUsed(principal.record, allocation),
      isWithheld: allocation?.isWithheld ?? false,
    };
  }

  /** Drops from the cache what this Grant's evaluation used. */
  forget({ grant }: Presented): void {
    if (!grant.ok) return;
    const { issuer, id } = grant.value;
    const allocation = this.grants.get(id);
    if (allocation !== undefined) this.statusLists.forget(allocation.statusListUrl);
    const principal = this.principals.get(issuer);
    if (principal !== undefined) this.forgotten.add(principal);
    this.grants.delete(id);
  }

  /** Notes that an ALLOW of this Grant is stored, so its id is bound to it. */
  noteAllowed({ grant }: Presented, crypto: CryptoPort): void {
    const allocation = grant.ok ? this.grants.get(grant.value.id) : undefined;
    if (!grant.ok || allocation === undefined || allocation.grantHash !== null) return;
    this.grants.set(allocation.id, { ...allocation, grantHash: sha256Of(crypto, grant.value.jws) });
  }

  private async find(
    { issuer, id }: Grant,
    tenant: Tenant,
  ): Promise<{ principal: LoadedPrincipal | null; allocation: AllocatedGrant | null }> {
    const principal = this.remembered(issuer);
    const allocation = this.grants.get(id);
    const isAged =
      principal !== undefined && allocation !== undefined && !isOfVersion(allocation, principal.record);
    if (principal !== undefined && allocation !== undefined && !isAged) return { principal, allocation };
    const loadedAtMs = this.deps.clock.nowMs();
    const query = {
      issuer: isAged || principal === undefined ? issuer : null,
      grantId: isAged || allocation === undefined ? id : null,
    };
    const loaded = await this.batcher.submit(query, tenant);
    return {
      principal: query.issuer === null ? (principal ?? null) : this.remember(loaded.principal, loadedAtMs),
      allocation: query.grantId === null ? (allocation ?? null) : this.rememberGrant(loaded.grant),
    };
  }

  /**
   * Null: the Grant is revoked and its list does not say so yet, because the signer of lists is not available (protocol
   * §9). Then the list is not evidence.
   */
  private async findStatus(allocation: AllocatedGrant): Promise<Answer<StatusFact> | null> {
    const { statusListUrl: url, statusIndex, revocationRecordedAtMs } = allocation;
    const status = await this.statusLists.find(url, statusIndex);
    if (revocationRecordedAtMs === null || !isClear(status)) return status;
    // The cached list may be older than the one that says so.
    this.statusLists.forget(url);
    const latest = await this.statusLists.find(url, statusIndex);
    return isClear(latest) ? null : latest;
  }

  /** The same Principal when its document needs no refresh, or when no refresh ended in time. */
  private async withFreshDocument(
    known: LoadedPrincipal,
    noteRemoteWait: () => void,
  ): Promise<LoadedPrincipal> {
    if (!this.documents.isDue(known.record)) return known;
    const record = await this.documents.refresh(known.record, noteRemoteWait);
    return this.remember(record, this.deps.clock.nowMs()) ?? known;
  }

  private remembered(did: string): LoadedPrincipal | undefined {
    const principal = this.principals.get(did);
    if (principal === undefined || this.forgotten.has(principal)) return undefined;
    // A negative age: the clock was set back, so the age is unknown and the entry is not used.
    const ageMs = this.deps.clock.nowMs() - principal.loadedAtMs;
    return ageMs >= 0 && ageMs < PRINCIPAL_REMEMBERED_MS ? principal : undefined;
  }

  private remember(record: PrincipalRecord | null, loadedAtMs: number): LoadedPrincipal | null {
    if (record === null) return null;
    const stored = record.document;
    const known = this.principals.get(record.did);
    const document = known !== undefined && isReadAlike(known.record, record) ? known.document : read(record);
    const kept = stored === null ? null : { hash: stored.hash, resolvedAtMs: stored.resolvedAtMs };
    const principal = { record: { ...record, document: kept }, document, loadedAtMs };
    this.principals.set(record.did, principal);
    return principal;
  }

  private rememberGrant(record: AllocatedGrant | null): AllocatedGrant | null {
    // A withheld Grant is not cached: the operator may release it at any moment.
    if (record !== null && !record.isWithheld) this.grants.set(record.id, record);
    return record;
  }
}

/** The document in force, with the keys that are recorded. */
const read = ({ did, document, keys }: PrincipalRecord): DidDocument | null => {
  const parsed = document === null ? null : parseDidDocument(document.body, did);
  return parsed === null ? null : withKnownKeys(parsed, keys);
};

/** Whether `read` gives the same for both: the text, which the hash stands for, and the recorded keys are the same. */
const isReadAlike = (one: LoadedPrincipal['record'], other: LoadedPrincipal['record']): boolean =>
  one.document?.hash === other.document?.hash &&
  one.keys.length === other.keys.length &&
  one.keys.every(({ kid, publicKeyMultibase }, i) => {
    const key = other.keys[i];
    return key?.kid === kid && key.publicKeyMultibase === publicKeyMultibase;
  });

/** Estimated memory, rather too high than too low. The ids of the keys may be long; everything else is short. */
const bytesOf = ({ record }: LoadedPrincipal): number => {
  let bytes = BYTES_OF_PRINCIPAL;
  for (const { kid } of record.keys) bytes += BYTES_OF_KEY + 2 * kid.length;
  return bytes;
};

/**
 * Whether the pause of the Grant was read with this version of its Principal. True where the Grant belongs to another
 * Principal: then its pause does not matter.
 */
const isOfVersion = (
  { principal, principalVersion }: AllocatedGrant,
  { did, version }: Pick<PrincipalRecord, 'did' | 'version'>,
): boolean => principal !== did || principalVersion === version;

/**
 * The older of the versions with which Principal and Grant were read. Where they differ, the commit answers `STALE`.
 */
const versionUsed = (
  record: LoadedPrincipal['record'],
  allocation: AllocatedGrant | null,
): Pick<PrincipalRecord, 'did' | 'version'> =>
  allocation === null || isOfVersion(allocation, record)
    ? record
    : { did: record.did, version: Math.min(record.version, allocation.principalVersion) };

const isClear = (status: Answer<StatusFact>): boolean => status.answer === 'found' && !status.value.revoked;

const principalFact = (principal: LoadedPrincipal['record'], kid: string, nowMs: number): PrincipalFact => {
  return { verification: effectiveState(principal, nowMs), key: keyStateOf(principal.keys, kid) };
};

/**
 * A managed document is read from the service's own storage, so it is as old as its load. A hosted document is as old
 * as its last resolution. The database may date that a moment after this process's clock, so the earlier time is used:
 * no Receipt may show a document as resolved after its evaluation.
 */
const documentFact = ({ record, document, loadedAtMs }: LoadedPrincipal): Answer<DocumentFact> => {
  if (record.document === null || document === null) return unavailable;
  if (record.kind === 'hosted' && isDatedAhead(record.document, loadedAtMs)) return unavailable;
  const resolvedAtMs =
    record.kind === 'managed' ? loadedAtMs : Math.min(loadedAtMs, record.document.resolvedAtMs);
  return found({ document, hash: record.document.hash, resolvedAtMs });
};

/**
 * A paused Grant is shown without a list entry. A revoked Grant whose list does not say so yet (`isUnlisted`) is shown
 * without an index. So P6 is false and no list is consulted, while P2 still has the time of allocation.
 */
const allocationFact = (grant: AllocatedGrant, isUnlisted: boolean): AllocationFact => ({
  issuer: grant.principal,
  agent: grant.agent,
  statusListCredential: grant.isPaused ? '' : grant.statusListUrl,
  statusListIndex: grant.isPaused || isUnlisted ? '' : String(grant.statusIndex),
  allocatedAtMs: grant.allocatedAtMs,
  grantHash: grant.grantHash,
});
