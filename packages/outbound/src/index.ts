/** Guarded outbound requests, and what hosted Principals need of them. */
export type { OutboundAnswer } from './answers.ts';
export { resolveDidWeb } from './did-web.ts';
export { type AddressAnswer, type DnsPort, type DnsTxtAnswer, nodeDns } from './dns.ts';
export { checkDomainProof } from './domain-proof.ts';
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type TestSeams,
} from './outbound.ts';
export type { Endpoint } from './target.ts';
