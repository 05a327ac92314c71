/** The HTTP frame: what the composing code and the handlers use of it. */

export type { Clock } from '@svc/service';
export { type AdminService, createAdminService, type Readiness } from './admin-service.ts';
export { ApiError, type ApiErrorOptions } from './api-error.ts';
export type {
  AdminCaller,
  Authenticate,
  Caller,
  CallerOf,
  ObserverCaller,
  OrgCaller,
  PrincipalCaller,
  ProvisionCaller,
  RpCaller,
} from './caller.ts';
export { HTTP_LIMITS, type HttpDeps, type HttpLimits } from './deps.ts';
export type { Handler, HandlerContext, Handlers } from './handler.ts';
export { createHttpService, type HttpService } from './http-service.ts';
export { createHttpMetrics, type HttpMetrics } from './metrics.ts';
