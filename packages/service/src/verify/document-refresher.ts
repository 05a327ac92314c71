/**
 * Keeps the DID documents of hosted Principals fresh while requests are verified against them (protocol §13). A
 * document older than the cache time is fetched again before it is used. These bounds limit what slow or dead hosts can
 * cost:
 *
 * - one fetch at a time for each Principal, and a limited number for each org and in all;
 * - orgs take turns;
 * - a pause after a failure, in which requests do not read storage for a newer document either;
 * - no request waits for a fetch longer than `WAIT_MS` after the fetch was requested; the time in the queue counts.
 *
 * When the wait is over, the document in force is used until the engine refuses it for its age. A fetch that succeeds
 * late is still stored, for later requests.
 *
 * Nothing is fetched for a Principal whose domain is not proven: its Grants fail at T2 whatever the document says.
 */
import { type DidWeb, TRUST_CONFIG } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import { findTenantFor } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { withinMs } from '../lib/deadline.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { IssuerDocumentRecord, PrincipalRecord } from '../ports/principals.ts';
import { StoreError } from '../ports/store.ts';
import { isDatedAhead, refreshHostedDocument } from '../principals/hosted-document.ts';

/** A verification is answered within 1.7 s, and its commit may take 0.9 s of that. */
const WAIT_MS = 700;
/** Fewer than the outbound guard allows at once, so that registrations and domain checks get their turn. */
const MAX_FETCHES = 24;
const MAX_FETCHES_OF_ORG = 4;
const MAX_FETCHES_WAITING = 1_024;
/** Twice the 3 s for which a slow host can keep its place. */
const WAIT_FOR_PLACE_MS = 6_000;
const PAUSE_AFTER_FAILURE_MS = 10_000;
const FAILURES_REMEMBERED = 10_000;

interface Refresh {
  readonly startedAtMs: number;
  /** Resolves when the host is about to be asked; stays pending where storage has a document that is not due. */
  readonly asking: Promise<void>;
  /**
   * The Principal as stored afterwards, unchanged where the host failed. Null: storage failed, or the fetch got no
   * place. Never rejects.
   */
  readonly done: Promise<PrincipalRecord | null>;
}

type Refreshable = Pick<PrincipalRecord, 'kind' | 'verificationState'> & {
  readonly document: Pick<IssuerDocumentRecord, 'resolvedAtMs'> | null;
};

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'log' | 'didResolver'>;

export class DocumentRefresher {
  private readonly running = new Map<string, Refresh>();
  private readonly failed = new LRUCache<string, true>({
    max: FAILURES_REMEMBERED,
    ttl: PAUSE_AFTER_FAILURE_MS,
  });
  private readonly places = new FairLimiter({
    atOnce: MAX_FETCHES,
    atOncePerOrg: MAX_FETCHES_OF_ORG,
    maxWaiting: MAX_FETCHES_WAITING,
    waitMs: WAIT_FOR_PLACE_MS,
    refuse: serviceUnavailable,
  });

  constructor(private readonly deps: Deps) {}

  /** True when there is no document in force, or it is older than the cache time or of unknown age (dated ahead). */
  isDue({ kind, verificationState, document }: Refreshable): boolean {
    if (kind !== 'hosted' || verificationState !== 'verified') return false;
    if (document === null) return true;
    const nowMs = this.deps.clock.nowMs();
    const usedUntilMs = document.resolvedAtMs + TRUST_CONFIG.didDocumentCacheSeconds * 1000;
    return nowMs >= usedUntilMs || isDatedAhead(document, nowMs);
  }

  /**
   * The Principal as stored after a refresh; null when there is none, when the refresh did not end in time, or when the
   * host failed just now and the known document may still be used. `noteRemoteWait` is called where the host is waited
   * for.
   */
  async refresh(
    { did, document }: Pick<PrincipalRecord, 'did'> & Refreshable,
    noteRemoteWait: () => void,
  ): Promise<PrincipalRecord | null> {
    if (this.failed.has(did) && this.isUsable(document)) return null;
    const { startedAtMs, asking, done } = this.running.get(did) ?? this.start(did);
    const waitMs = startedAtMs + WAIT_MS - performance.now();
    if (waitMs <= 0) return null;
    void asking.then(noteRemoteWait);
    return withinMs(waitMs, done, () => null);
  }

  /** Whether the engine accepts the document at its age. */
  private isUsable(document: Refreshable['document']): boolean {
    if (document === null) return false;
    const nowMs = this.deps.clock.nowMs();
    const usableUntilMs = document.resolvedAtMs + TRUST_CONFIG.didDocumentMaxAgeSeconds * 1000;
    return nowMs <= usableUntilMs && !isDatedAhead(document, nowMs);
  }

  private start(did: DidWeb): Refresh {
    let noteAsking = () => {};
    const asking = new Promise<void>((resolve) => {
      noteAsking = resolve;
    });
    const done = this.run(did, noteAsking)
      .catch((error: unknown) => {
        this.logFailure(did, error instanceof StoreError ? error.message : String(error));
        return null;
      })
      .finally(() => this.running.delete(did));
    const refresh = { startedAtMs: performance.now(), asking, done };
    this.running.set(did, refresh);
    return refresh;
  }

  /** Reads storage before it asks the host: another node, or the owner, may have had the document resolved already. */
  private async run(did: DidWeb, noteAsking: () => void): Promise<PrincipalRecord | null> {
    const stored = await this.deps.store.principals.find(did);
    if (stored === null || !this.isDue(stored)) return stored;
    if (this.failed.has(did)) return stored;
    noteAsking();
    const tenant = await findTenantFor(this.deps.store, 'principal', stored);
    const refreshed = await this.places.run({ tenant }, () => refreshHostedDocument(this.deps, stored));
    if (refreshed.kind === 'stored') return refreshed.principal;
    this.failed.set(did, true);
    this.logFailure(did, `${refreshed.kind}: ${refreshed.problem}`);
    return stored;
  }

  private logFailure(did: DidWeb, problem: string): void {
    this.deps.log.warn('did_document.not_refreshed', { did, problem });
  }
}
