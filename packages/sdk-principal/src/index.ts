export type { Capability, Signer } from '@svc/protocol';
export { SvcError, type SvcErrorKind } from '@svc/sdk-core';
export { apiCall, purchase } from './capabilities.ts';
export {
  type CallOptions,
  createPrincipalClient,
  type GrantFilter,
  type IssuedGrant,
  type PrincipalClient,
  type PrincipalClientOptions,
} from './client.ts';
export type { Ed25519PrivateJwk } from './ed25519.ts';
export type { GrantRequest } from './grant-draft.ts';
export { generatePrincipalKey, type PrincipalKey, signerFromJwk } from './principal-key.ts';
export type { GrantList, GrantSummary, Me } from './wire.ts';
