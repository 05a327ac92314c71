/** The check engine of the delegated-authority protocol: pure, synchronous, without I/O. See docs/protocol.md. */
export {
  applyConsumption,
  type Balance,
  type Balances,
  emptyBalances,
  findBalance,
  type Movement,
  remainingOf,
  restoreOf,
  reversalOf,
} from './budgets/balances.ts';
export * from './budgets/budget.ts';
export * from './budgets/consumption.ts';
export * from './budgets/period.ts';
export * from './budgets/snapshot.ts';
export * from './checks/check.ts';
export { CHECK_IDS, CHECKS, PROTOCOL_CHECK_IDS, TRUST_CHECK_IDS } from './checks/table.ts';
export * from './codec/base64url.ts';
export * from './codec/compact-jws.ts';
export * from './codec/crypto.ts';
export * from './codec/did-key.ts';
export * from './codec/did-web.ts';
export * from './codec/htu.ts';
export * from './codec/jcs.ts';
export * from './codec/json.ts';
export * from './codec/jti.ts';
export * from './codec/resource-pattern.ts';
export * from './codec/sha256.ts';
export * from './codec/strict-json.ts';
export * from './codec/timestamp.ts';
export * from './codec/ulid.ts';
export * from './codec/utf8.ts';
export * from './evaluate.ts';
export * from './evaluate-json.ts';
export * from './facts.ts';
export * from './model/action.ts';
export * from './model/capability.ts';
export * from './model/credential-status.ts';
export * from './model/did-document.ts';
export * from './model/grant.ts';
export * from './model/ids.ts';
export * from './model/parsed.ts';
export * from './model/proof.ts';
export * from './model/reason-code.ts';
export * from './profiles/index.ts';
export * from './receipt-body.ts';
export * from './trust-config.ts';
