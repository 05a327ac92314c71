/** The codes that relying parties answer through the middlewares and the MCP guard, besides the reasons of a DENY. */

/** Each has a page in the service's guide, at `/guide/errors/<code>`; its text is in `help-texts.ts`. */
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
