/**
 * The trust configuration: the bounds within which external facts may be used (protocol §7). Every Receipt pins it by
 * hash, so a change of any bound is a new version.
 */

import { type JsonObject, jcs } from '@svc/codec';

/** Maximum ages of the facts that the service decides on (protocol §7). Receipts name it by its hash. */
export interface TrustConfig {
  /** Name of this configuration, as in the published document. */
  readonly version: string;
  /** Name of the policy that the bounds belong to. */
  readonly policyVersion: 'svc-trust-v1';
  /** The service fetches a Principal's DID document again after this time. */
  readonly didDocumentCacheSeconds: number;
  /** An older DID document is not used: the decision is SERVICE_UNAVAILABLE. */
  readonly didDocumentMaxAgeSeconds: number;
  /** A status list that was checked longer ago is not used. */
  readonly statusListMaxAgeSeconds: number;
  /** How far ahead of our clock a Proof's `iat` may be. */
  readonly clockSkewSeconds: number;
}

/** The trust configuration in force. */
export const TRUST_CONFIG: TrustConfig = {
  version: 'svc-trust-config-1',
  policyVersion: 'svc-trust-v1',
  didDocumentCacheSeconds: 300,
  didDocumentMaxAgeSeconds: 3600,
  statusListMaxAgeSeconds: 30,
  clockSkewSeconds: 5,
};

/**
 * The maximum window after a Proof's `iat` in which a relying party can have it accepted (interface §Relying party).
 */
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
