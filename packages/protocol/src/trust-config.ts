/**
 * The trust configuration: the bounds under which outside facts may be used (protocol §7). Every Receipt pins it
 * by hash, so a change of any bound is a new version.
 */

import { type JsonObject, jcs } from '@svc/codec';

/** How old what the service knows may be when it decides (protocol §7). Receipts name it by its hash. */
export interface TrustConfig {
  /** Name of this configuration, as the published document has it. */
  readonly version: string;
  /** Name of the policy that the bounds are of. */
  readonly policyVersion: 'svc-trust-v1';
  /** A Principal's DID document is fetched again after this. */
  readonly didDocumentCacheSeconds: number;
  /** A DID document older than this decides nothing: the answer is SERVICE_UNAVAILABLE. */
  readonly didDocumentMaxAgeSeconds: number;
  /** A status list looked at longer ago than this decides nothing. */
  readonly statusListMaxAgeSeconds: number;
  /** How far ahead of our clock a Proof's `iat` may be. */
  readonly clockSkewSeconds: number;
}

/** What is in force. */
export const TRUST_CONFIG: TrustConfig = {
  version: 'svc-trust-config-1',
  policyVersion: 'svc-trust-v1',
  didDocumentCacheSeconds: 300,
  didDocumentMaxAgeSeconds: 3600,
  statusListMaxAgeSeconds: 30,
  clockSkewSeconds: 5,
};

/** The widest window in which a relying party can have Proofs accepted after their `iat` (interface §Relying party). */
export const PROOF_WINDOW_MAX_SECONDS = 300;

/** The published document; its SHA-256 is `evidence.trust_config_hash`. */
export const trustConfigDocument = (config: TrustConfig): string =>
  jcs({
    version: config.version,
    policy_version: config.policyVersion,
    did_document_cache_seconds: config.didDocumentCacheSeconds,
    did_document_max_age_seconds: config.didDocumentMaxAgeSeconds,
    status_list_max_age_seconds: config.statusListMaxAgeSeconds,
    clock_skew_seconds: config.clockSkewSeconds,
  } satisfies JsonObject);
