/** The check engine of the delegated-authority protocol: pure, synchronous, without I/O. See docs/protocol.md. */
export {
  type CryptoPort,
  DAY_MS,
  DID_WEB_MAX_CHARS,
  type DidKey,
  type DidWeb,
  dayOf,
  dayStartMs,
  decodeBase64url,
  decodeBase64urlText,
  decodeMultikey,
  decodeUtf8,
  didOfKid,
  didWebDocumentUrl,
  encodeBase64url,
  encodeBase64urlText,
  encodeMultikey,
  encodeUlid,
  encodeUtf8,
  formatDidKey,
  formatSeconds,
  formatTimestamp,
  HTU_MAX_CHARS,
  isJsonObject,
  isSameBytes,
  isSha256,
  JcsError,
  type JsonObject,
  type JsonValue,
  jcs,
  kidOfJws,
  MAX_JCS_DEPTH,
  MAX_JSON_DEPTH,
  normalizeHtu,
  type ParsedDidWeb,
  type ParsedJws,
  type ParseJwsResult,
  parseAnyUtcTime,
  parseCompactJws,
  parseDateTime,
  parseDidKey,
  parseDidWeb,
  parseInstant,
  parseJsonOfAnyNumbers,
  parseStrictJson,
  parseTimestamp,
  portableCrypto,
  type Sha256,
  type Signer,
  type StrictJsonResult,
  sha256Of,
  signCompactJws,
  ulidTimeMs,
} from '@svc/codec';
export * from './approval.ts';
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
export {
  type AnyCheck,
  CHECK_IDS,
  CHECKS,
  type CheckId,
  checksOf,
  type Evidence,
  isProtocolCheck,
  isTrustCheck,
  type ProtocolCheckId,
  type TrustCheckId,
} from './checks/table.ts';
// Not `evaluateUnder`: decisions are made under published profiles only.
export {
  type Decided,
  type EvaluationContext,
  evaluate,
  parsePresented,
  planLookups,
  type Undecided,
  type VerifyRequest,
} from './evaluate.ts';
export * from './evaluate-json.ts';
export * from './facts.ts';
export * from './model/action.ts';
export * from './model/capability.ts';
export * from './model/credential-status.ts';
export * from './model/did-document.ts';
export * from './model/event-type.ts';
export * from './model/grant.ts';
export * from './model/ids.ts';
export * from './model/jti.ts';
export { isStringArray } from './model/members.ts';
export * from './model/parsed.ts';
export * from './model/proof.ts';
export {
  isReasonCode,
  PROTOCOL_REASONS,
  REASON_CODES,
  REASON_TEXTS,
  RESERVED_REASONS,
  type ReasonCode,
  TRUST_REASONS,
} from './model/reason-code.ts';
export * from './profiles/index.ts';
export * from './receipt-body.ts';
export * from './resources/resource-pattern.ts';
export * from './trust-config.ts';
export * from './unseen.ts';
