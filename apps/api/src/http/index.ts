/** The HTTP frame: what the composing code and the handlers import from it. */
export { AddressLimiter } from './address-limiter.ts';
export { ApiError } from './api-error.ts';
export { ClientGone } from './client-gone.ts';
export { limiterKeyOf } from './client-ip.ts';
export { HTTP_LIMITS, type HttpLimits } from './deps.ts';
export type { LoggedDecision } from './exchange.ts';
export type { Handler, Handlers, HandlersOf } from './handler.ts';
export { createHttpService } from './http-service.ts';
export { createHttpMetrics } from './metrics.ts';
export { loadErrorPage, loadPages } from './pages.ts';
export { type Allowance, RateLimiter } from './rate-limiter.ts';
export { publicMessage, reasonLink } from './respond.ts';
export { wrapHandlers } from './wrap-handlers.ts';
