/** The guarded way to the outside, and what hosted Principals need of it. */
export type {
  Answered,
  OutboundAnswer,
  RefusalRule,
  Refused,
  TxtAnswer,
  Unreachable,
  UnreachableFault,
} from './answers.ts';
export { type Resolution, type ResolvedKey, resolveDidWeb } from './did-web.ts';
export { type AddressAnswer, type DnsPort, type DnsTxtAnswer, type NodeDnsOptions, nodeDns } from './dns.ts';
export { checkDomainProof, type DomainClaim, type DomainProof } from './domain-proof.ts';
export type { ForbiddenHosts } from './forbidden.ts';
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type RequestOptions,
  type TestSeams,
} from './outbound.ts';
export type { Endpoint, OutboundMap } from './target.ts';
