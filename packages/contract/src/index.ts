/** Every route of the service, declared once, and the types and checks derived from the routes. */
export { parseEvidenceType } from './areas/public.ts';
export { describeProblems, PLACES, type Place, pathText } from './describe-issues.ts';
export {
  ERROR_CODES,
  ERROR_MEANING,
  ERROR_REMEDY,
  ERROR_STATUS,
  type ErrorBody,
  type ErrorCode,
  errorBody,
} from './error-codes.ts';
export * as formats from './formats.ts';
export { GRANT_MODE } from './resources/access-request.ts';
export { type EventData, eventData } from './resources/event-data.ts';
export { POLL_METHOD, PUSH_METHOD } from './resources/ssf.ts';
export {
  type AuthClass,
  errorCodesOf,
  type Feature,
  type Route,
} from './route.ts';
export { areas, routes } from './routes.ts';
export { asSentence } from './sentence.ts';
export type { Area, Areas, Body, Input, Output, RouteId, Routes } from './types.ts';
