/** `@svc/receipts/audit`: re-evaluates a decision and compares the result with its Receipt. */
export type { EvidenceSource } from './audit/artifacts.ts';
export type { Assumption, KnownFacts } from './audit/assumed-facts.ts';
export { type AuditFailureCode, type AuditInput, type AuditResult, audit } from './audit/audit.ts';
export type { Difference } from './difference.ts';
