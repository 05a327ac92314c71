/** The HTTP frame: what the composing code and the handlers use of it. */
export { ApiError } from './api-error.ts';
export { HTTP_LIMITS } from './deps.ts';
export type { Handler, Handlers } from './handler.ts';
export { createHttpService } from './http-service.ts';
export { createHttpMetrics } from './metrics.ts';
export { loadPages } from './pages.ts';
