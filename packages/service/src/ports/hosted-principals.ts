/**
 * Ports that read what hosted Principals publish on their own hosts (protocol §13). Both answer within a few seconds
 * and never reject because of a remote host or a resolver. Tenants take turns, so that a tenant with slow hosts delays
 * only itself.
 */
import type { DidWeb } from '@svc/protocol';
import type { Tenant } from './tenant.ts';

export interface ResolvedKey {
  /** Absolute DID URL under the DID itself. */
  readonly kid: string;
  readonly publicKeyMultibase: string;
}

/** `invalid`: the host serves something that is not a document of this DID. `unreachable`: the host did not answer. */
export type DidResolution =
  | {
      readonly kind: 'resolved';
      /** The document exactly as it was served. */
      readonly text: string;
      /** Content type of the answer; null if it is not a JSON type. Absent: not known. */
      readonly contentType?: string | null;
      /** Its usable Ed25519 assertion keys. */
      readonly keys: readonly ResolvedKey[];
    }
  | { readonly kind: 'invalid' | 'unreachable'; readonly problem: string };

export interface DidResolver {
  resolve(did: DidWeb, tenant: Tenant): Promise<DidResolution>;
}

export interface DomainClaim {
  readonly did: DidWeb;
  /** The domain as written in the DID. */
  readonly domain: string;
  readonly token: string;
}

/**
 * `absent`: both places answered and neither has a proof. `unknown`: no proof was found, and one place did not answer.
 */
export type DomainProof = 'proven' | 'absent' | 'unknown';

export interface DomainProver {
  check(claim: DomainClaim, tenant: Tenant): Promise<DomainProof>;
}
