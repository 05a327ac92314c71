/** What relying parties answer with the middlewares and the MCP guard, beside the reasons of a DENY. */

/** Each has a page in the guide of the service, at `/guide/errors/<code>`, which `help-texts.ts` says. */
export const REFUSAL_CODES = [
  'UNAUTHORIZED',
  'INVALID_REQUEST',
  'FORBIDDEN',
  'SIGNATURE_REQUIRED',
  'REQUEST_MISMATCH',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'CONFIGURATION',
  'SERVICE_UNAVAILABLE',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];
