/** How both client libraries call the service. Bundled into each of them; not published separately. */
export { aRequestId, readRequestOf } from './access-requests.ts';
export {
  type ApiKeys,
  type AuditFilter,
  type AuditLog,
  createApiKeys,
  createAuditLog,
  getMe,
  getMeWithTime,
  instant,
} from './account.ts';
export * from './arguments.ts';
export type { CallOptions } from './call-options.ts';
export { type ConnectionOptions, checkPinnedService, connectionRules } from './connection.ts';
export { aReceiptId, fetchDecision } from './decision.ts';
export { type DecisionExports, decisionExports } from './decision-export.ts';
export { type DecisionPages, decisionPages, decisionQuery } from './decision-pages.ts';
export { createDirectory, type Directory, type DirectoryFilter, didInPath } from './directory.ts';
export { SvcError, type SvcErrorConstructor, type SvcErrorKind } from './errors.ts';
export {
  createEventSubscriptions,
  type EventSubscriptions,
  type NewEventSubscription,
  type ReplayFrom,
} from './event-subscriptions.ts';
export { helpBase, helpful, helpLink, helpUrlOf, withHelp } from './help.ts';
export { iteratePages } from './pages.ts';
export { createPauses, type PauseOptions, type Pauses, type PauseTarget } from './pauses.ts';
export { randomToken } from './random.ts';
export { didKey, didWeb, jsonObject, type Reader, unexpected } from './read.ts';
export * from './readers.generated.ts';
export type { RefusalCode } from './refusal-codes.ts';
export { createTransport, type Transport } from './transport.ts';
export { getUsage, type UsageFilter } from './usage.ts';
export { type ReceivedWebhook, verifyWebhook, type WebhookOptions } from './webhook.ts';
export type * from './webhook-event.ts';
export { outcomeUnknown, type WholeCall } from './whole-call.ts';
export type * from './wire.generated.ts';
