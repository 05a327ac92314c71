/** The parts of the OpenAPI document that all operations share: credentials, headers, error answers. */
import { ERROR_CODES, ERROR_MEANING, ERROR_STATUS, type ErrorCode } from '../error-codes.ts';
import type { AuthClass } from '../route.ts';

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description }) as const;

export const SECURITY_SCHEMES = {
  rpKey: bearer('Relying party key, `dk_rp_…`. The only class that `POST /verify` accepts.'),
  principalKey: bearer('Principal key, `dk_principal_…`.'),
  orgKey: bearer('Org key, `dk_org_read_…` or `dk_org_admin_…`. If `admin` is named, only the latter.'),
  observerKey: bearer('Observer key, `dk_observer_…`: service-wide statistics.'),
  adminToken: bearer('The operator’s token, from the configuration of the service.'),
  provisionKey: bearer('The key of the console for creating tenants.'),
};

type SchemeName = keyof typeof SECURITY_SCHEMES;

const SCHEME_OF: Readonly<Record<AuthClass, readonly [SchemeName, readonly string[]]>> = {
  rp: ['rpKey', []],
  principal: ['principalKey', []],
  org: ['orgKey', []],
  'org:admin': ['orgKey', ['admin']],
  observer: ['observerKey', []],
  admin: ['adminToken', []],
  provision: ['provisionKey', []],
};

/** One matching class suffices. */
export const securityOf = (auth: readonly AuthClass[]) =>
  auth.map((authClass) => {
    const [name, roles] = SCHEME_OF[authClass];
    return { [name]: [...roles] };
  });

const header = (description: string, schema: Readonly<Record<string, unknown>>) => ({ description, schema });
const seconds = { type: 'integer', minimum: 0 };

export const HEADERS = {
  'Svc-Request-Id': header('The id of this request in the service’s logs.', { type: 'string' }),
  'RateLimit-Limit': header('Requests allowed per one-minute window.', { type: 'integer', minimum: 1 }),
  'RateLimit-Remaining': header('Requests left in this window.', { type: 'integer', minimum: 0 }),
  'RateLimit-Reset': header('Seconds until the window ends.', seconds),
  'Retry-After': header('Seconds to wait before trying again.', seconds),
  Link: header('`rel="help"`: the page of the guide about this code, with its remedy.', { type: 'string' }),
  'WWW-Authenticate': header('Always `Bearer`.', { type: 'string', const: 'Bearer' }),
};

const ref = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
export const COMMON_HEADERS = {
  'Svc-Request-Id': ref('Svc-Request-Id'),
  'RateLimit-Limit': ref('RateLimit-Limit'),
  'RateLimit-Remaining': ref('RateLimit-Remaining'),
  'RateLimit-Reset': ref('RateLimit-Reset'),
};

const EXTRA_HEADERS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': ref('WWW-Authenticate') },
  RATE_LIMITED: { 'Retry-After': ref('Retry-After') },
  SERVICE_UNAVAILABLE: { 'Retry-After': ref('Retry-After') },
};

const EXAMPLE_MESSAGE: Readonly<Partial<Record<ErrorCode, string>>> = {
  UNAUTHORIZED: 'The key is unknown or revoked.',
  RATE_LIMITED: 'Too many requests: limit 600 per minute; try again in 12 s.',
};

const plain = (markdown: string): string => markdown.replaceAll('`', '');

export const errorResponse = (
  code: ErrorCode,
  description: string,
  message = EXAMPLE_MESSAGE[code] ?? plain(description),
) => ({
  description,
  headers: { ...COMMON_HEADERS, Link: ref('Link'), ...EXTRA_HEADERS[code] },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      example: { error: code, message },
    },
  },
});

export const ERROR_RESPONSES = Object.fromEntries(
  ERROR_CODES.map((code) => [code, errorResponse(code, ERROR_MEANING[code])]),
) as Record<ErrorCode, ReturnType<typeof errorResponse>>;

export const statusOf = (code: ErrorCode): string => String(ERROR_STATUS[code]);
