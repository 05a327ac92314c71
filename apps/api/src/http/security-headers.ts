/**
 * Security headers of every answer, as helmet sets them. They never vary by request, so helmet runs once at start with
 * a recorder as its response, and the result is copied into each answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet, { type HelmetOptions } from 'helmet';

/** Name, value, name, value: the form that `writeHead` accepts. */
export type FlatHeaders = readonly string[];

export interface SecurityHeaders {
  /** API answers are data: no part of them may run, load or be framed, whatever the content type. */
  readonly api: FlatHeaders;
  /** The reference page may load its own script and styles, and nothing from another origin. */
  readonly reference: FlatHeaders;
  /** The pages may load their own files, nothing inline and nothing from another origin. */
  readonly pages: FlatHeaders;
}

const COMMON = {
  // Public documents are meant to be read from any origin.
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  referrerPolicy: { policy: 'no-referrer' },
} satisfies HelmetOptions;

const API_POLICY = { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"], sandbox: [] };

const REFERENCE_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  // Redoc writes inline styles into the page.
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  // Redoc searches in a worker that it makes from a blob.
  'worker-src': ['blob:'],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

const PAGES_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'connect-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

export const buildSecurityHeaders = (publicBaseUrl: string): SecurityHeaders => {
  const https = publicBaseUrl.startsWith('https:');
  const headersFor = (directives: Record<string, string[]>) =>
    recordHelmet({
      ...COMMON,
      strictTransportSecurity: https,
      contentSecurityPolicy: { useDefaults: false, directives },
    });
  return {
    api: headersFor(API_POLICY),
    reference: headersFor(REFERENCE_POLICY),
    pages: headersFor(PAGES_POLICY),
  };
};

const recordHelmet = (options: HelmetOptions): FlatHeaders => {
  const flat: string[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => flat.push(name, value),
    removeHeader: () => undefined,
  };
  let failure: unknown;
  // Helmet's middleware touches only these two methods of the response, and nothing of the request.
  helmet(options)({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    failure = error;
  });
  if (failure !== undefined) throw failure;
  return flat;
};
