/**
 * Authenticates a bearer token as a caller. RP keys are cached for a few seconds, for `POST /verify` alone, because the
 * commit of every decision reads the key again. Every other route looks the key up each time, so that a revoked key is
 * refused at once.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { DidWeb, OrgId } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import { parseApiKey } from '../api-keys/api-key.ts';
import { Batcher } from '../lib/batcher.ts';
import type { KnownApiKey } from '../ports/api-keys.ts';
import type { Clock } from '../ports/platform.ts';
import type { Store } from '../ports/store.ts';
import type { RpCallerRecord } from '../ports/verify-store.ts';
import type { Caller, RpCaller } from './caller.ts';

export interface AuthenticateOptions {
  /** True only where the work done for the caller reads the key again; then the caller may come from the cache. */
  readonly mayBeRemembered: boolean;
}

export interface AuthenticatorOptions {
  readonly adminToken: string | null;
  /** The keys of the console that are valid at the same time. */
  readonly provisionKeys: readonly string[];
}

/**
 * Cached entries are used for this long. A changed setting of a relying party must be in force on every node within 2 s
 * of the answer to the change (interface §RelyingParty).
 */
const RP_KEY_REMEMBERED_MS = 1_500;
/**
 * A use of a cached key of this age or more also reads it again in the background. So calls do not wait for storage
 * each time the entry expires.
 */
const RP_KEY_RENEWED_MS = 700;
const RP_KEYS_REMEMBERED = 10_000;

export class Authenticator {
  private readonly rpCallers = new LRUCache<
    string,
    { readonly caller: RpCaller; readonly loadedAtMs: number }
  >({
    max: RP_KEYS_REMEMBERED,
  });
  private readonly lookUps = new Batcher<string, KnownApiKey | null>((keys) =>
    this.store.apiKeys.findByHashes(keys),
  );
  private readonly rereads = new Batcher<string, RpCaller | null>((keys) => this.loadEach(keys));
  private readonly renewing = new Set<string>();
  /**
   * Rises with each `forget`. The result of a look-up that began under an earlier generation may be older than a change
   * already answered, so it is not cached.
   */
  private generation = 0;
  private readonly adminDigest: Buffer | null;
  private readonly provisionDigests: readonly Buffer[];

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    { adminToken, provisionKeys }: AuthenticatorOptions,
  ) {
    this.adminDigest = adminToken === null ? null : digest(adminToken);
    this.provisionDigests = provisionKeys.map(digest);
  }

  /** The caller of a live key or configured token, else null. Rejects when storage cannot be asked. */
  async authenticate(token: string, { mayBeRemembered }: AuthenticateOptions): Promise<Caller | null> {
    const fingerprint = parseApiKey(token);
    if (fingerprint === null) return this.configuredCaller(token);
    const remembered = mayBeRemembered ? this.remembered(fingerprint.keyHash) : null;
    return remembered ?? this.load(fingerprint.keyHash);
  }

  /**
   * The caller of an RP key as storage has it now; null when the key is no longer live. The look-up begins after this
   * call. Calls made while a look-up is under way share the next one.
   */
  readAgain(keyHash: string): Promise<RpCaller | null> {
    return this.rereads.submit(keyHash);
  }

  /**
   * Drops the cached callers of a relying party that has changed: from now on this node judges its calls by the new
   * record.
   */
  forget(relyingParty: DidWeb): void {
    this.generation += 1;
    for (const [keyHash, { caller }] of this.rpCallers.entries())
      if (caller.subject === relyingParty) this.rpCallers.delete(keyHash);
  }

  private remembered(keyHash: string): RpCaller | null {
    const entry = this.rpCallers.get(keyHash);
    if (entry === undefined) return null;
    const ageMs = this.clock.nowMs() - entry.loadedAtMs;
    // A negative age: the clock was set back, and the entry's true age is not known.
    if (ageMs < 0 || ageMs >= RP_KEY_REMEMBERED_MS) return null;
    if (ageMs >= RP_KEY_RENEWED_MS) void this.renew(keyHash);
    return entry.caller;
  }

  private async renew(keyHash: string): Promise<void> {
    if (this.renewing.has(keyHash)) return;
    this.renewing.add(keyHash);
    try {
      await this.rereads.submit(keyHash);
    } catch {
      // The entry stays cached until it expires. The next call after that reads the key and gets the error.
    } finally {
      this.renewing.delete(keyHash);
    }
  }

  private async load(keyHash: string): Promise<Caller | null> {
    // The role of a key never changes: a key that is cached as an RP key is read as one.
    if (this.rpCallers.has(keyHash)) return this.rereads.submit(keyHash);
    const loadedAtMs = this.clock.nowMs();
    const known = await this.lookUps.submit(keyHash);
    if (known === null || known.revokedAtMs !== null) return null;
    return known.role === 'rp' ? this.loadRp(keyHash, loadedAtMs) : callerOf(known);
  }

  private async loadEach(keyHashes: readonly string[]): Promise<readonly (RpCaller | null)[]> {
    const loadedAtMs = this.clock.nowMs();
    const distinct = [...new Set(keyHashes)];
    const callers = await Promise.all(distinct.map((keyHash) => this.loadRp(keyHash, loadedAtMs)));
    const found = new Map(distinct.map((keyHash, i) => [keyHash, callers[i] ?? null]));
    return keyHashes.map((keyHash) => found.get(keyHash) ?? null);
  }

  private async loadRp(keyHash: string, loadedAtMs: number): Promise<RpCaller | null> {
    const { generation } = this;
    const record = await this.store.verify.findRpCaller(keyHash);
    if (record === null || record.key.revokedAtMs !== null) {
      this.rpCallers.delete(keyHash);
      return null;
    }
    const caller = rpCaller(record);
    if (generation === this.generation) this.rpCallers.set(keyHash, { caller, loadedAtMs });
    return caller;
  }

  /** Digests of equal length are compared, in constant time, so neither length nor content leaks. */
  private configuredCaller(token: string): Caller | null {
    const presented = digest(token);
    if (this.adminDigest !== null && timingSafeEqual(presented, this.adminDigest))
      return { class: 'admin', subject: null, keyId: null };
    const ordinal = this.provisionDigests.map((known) => timingSafeEqual(presented, known)).indexOf(true);
    return ordinal < 0 ? null : { class: 'provision', subject: null, keyId: null, ordinal };
  }
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

export const rpCaller = ({ key, ...known }: RpCallerRecord): RpCaller => ({
  class: 'rp',
  subject: known.relyingParty.did,
  keyId: key.keyId,
  key,
  ...known,
});

const callerOf = ({ principalOrgId, isNewcomer, ...key }: KnownApiKey): Caller | null => {
  const { keyId } = key;
  switch (key.role) {
    case 'principal':
      return {
        class: 'principal',
        subject: key.subject as DidWeb,
        orgId: principalOrgId,
        isNewcomer,
        keyId,
        key,
      };
    case 'org:read':
      return { class: 'org', role: 'read', subject: key.subject as OrgId, isNewcomer, keyId, key };
    case 'org:admin':
      return { class: 'org', role: 'admin', subject: key.subject as OrgId, isNewcomer, keyId, key };
    case 'observer':
      return { class: 'observer', subject: key.subject, keyId, key };
    case 'rp':
      return null;
  }
};
