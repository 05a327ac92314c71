/**
 * What hosted Principals publish on hosts of their own (protocol §13). Both ports answer within a few seconds and
 * never reject for anything that a remote host or a resolver does. Tenants take turns, so that one whose hosts are slow
 * waits for itself.
 */
import type { DidWeb } from '@svc/protocol';
import type { Tenant } from './tenant.ts';

export interface ResolvedKey {
  /** Absolute DID URL under the DID itself. */
  readonly kid: string;
  readonly publicKeyMultibase: string;
}

/** `invalid`: the host serves something that is no document of this DID. `unreachable`: it could not be asked. */
export type DidResolution =
  | {
      readonly kind: 'resolved';
      /** The document exactly as it was served. */
      readonly text: string;
      /** The content type that it was served with, if that is of the JSON family. Absent: not told. */
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
  /** As it stands in the DID. */
  readonly domain: string;
  readonly token: string;
}

/** `absent`: positively no proof in either place. `unknown`: none seen, and one place could not be asked. */
export type DomainProof = 'proven' | 'absent' | 'unknown';

export interface DomainProver {
  check(claim: DomainClaim, tenant: Tenant): Promise<DomainProof>;
}
