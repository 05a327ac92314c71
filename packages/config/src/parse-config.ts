/**
 * Environment → Config (protocol §14). Pure. All faults are reported together. No fault contains a secret.
 */
import type {
  ColdConfig,
  Config,
  FenceConfig,
  ParsedConfig,
  ParsedRunnerConfig,
  ParsedWorkerConfig,
  SelfServeLimits,
  ServiceConfig,
  TenantLimits,
} from './config.ts';
import { databaseTlsFault } from './database-tls.ts';
import {
  CLIENT_VARIABLES,
  DEFAULT_PORTS,
  fileVariable,
  SECRET_NAMES,
  VARIABLES,
  type Variable,
  type VariableName,
} from './env.ts';
import { findNearName } from './near-name.ts';
import { didDomain, type Value } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Read = {
  readonly [N in VariableName]?: Extract<ReturnType<(typeof VARIABLES)[N]['parse']>, { ok: true }>['value'];
};

const ALL = Object.keys(VARIABLES) as VariableName[];

/** Parses a process environment. An empty variable counts as unset. */
export const parseConfig = (env: Environment): ParsedConfig => {
  const { read, faults } = readVariables(env, ALL);
  faults.push(...crossFaults(read));
  if (faults.length > 0) return { ok: false, faults };
  return withGoodDomain(buildConfig(read));
};

/** The variables of the conformance runner. It neither reads nor requires others. */
export const RUNNER_VARIABLES: readonly VariableName[] = [
  'SVC_ENV',
  'SVC_PORT',
  'SVC_ADMIN_HOST',
  'SVC_ADMIN_PORT',
  'SVC_BASE_URL',
  'SVC_DOMAIN',
  'SVC_STATUS_BASE_URL',
  'DATABASE_URL',
  'SVC_DATABASE_WITHOUT_TLS',
  'SVC_LOG_LEVEL',
  'SVC_OUTBOUND_MAP',
];

const NEEDS_DATABASE =
  'DATABASE_URL is required: only the process that starts the embedded database can use it';

export const parseRunnerConfig = (env: Environment): ParsedRunnerConfig => {
  const { read, faults } = readVariables(env, RUNNER_VARIABLES);
  const { DATABASE_URL: databaseUrl } = read;
  if (databaseUrl === undefined && read.SVC_ENV !== 'production' && faults.length === 0)
    faults.push(NEEDS_DATABASE);
  if (databaseUrl === undefined || faults.length > 0) return { ok: false, faults };
  return withGoodDomain({ ...placeOf(read), databaseUrl, outboundMap: read.SVC_OUTBOUND_MAP ?? null });
};

/** The variables of the worker. It neither reads nor requires others. */
export const WORKER_VARIABLES: readonly VariableName[] = [
  ...RUNNER_VARIABLES,
  'SVC_SYNCHRONOUS_STANDBY',
  'SVC_FENCE',
  'SVC_FENCE_ENDPOINT',
  'SVC_FENCE_MAX_AGE_MS',
  'SVC_COLD',
  'SVC_COLD_ENDPOINT',
  'SVC_HOT_DAYS',
  'SVC_COLD_GRACE_DAYS',
  'SVC_DATA_DIR',
  'SVC_STATUS_KEYS',
  'SVC_WEBHOOK_KEYS',
  'SVC_SSF',
  'SVC_KEY_PASSPHRASE_FILE',
  'SVC_PKCS11_PIN_FILE',
  'SVC_ED25519',
];

export const parseWorkerConfig = (env: Environment): ParsedWorkerConfig => {
  const { read, faults } = readVariables(env, WORKER_VARIABLES);
  const { DATABASE_URL: url } = read;
  if (url === undefined && read.SVC_ENV !== 'production' && faults.length === 0) faults.push(NEEDS_DATABASE);
  faults.push(...crossFaults(read));
  if (url === undefined || faults.length > 0) return { ok: false, faults };
  return withGoodDomain({ ...serviceConfigOf(read), database: { kind: 'external' as const, url } });
};

/** The values of `names`. An unknown `SVC_…` is a fault; a known variable that is not in `names` is ignored. */
const readVariables = (
  env: Environment,
  names: readonly VariableName[],
): { readonly read: Read; readonly faults: string[] } => {
  const faults = unknownVariables(env);
  const given: Record<string, unknown> = {};
  for (const name of names) {
    const variable: Variable = VARIABLES[name];
    const text = env[name];
    if (text === undefined || text === '') continue;
    const parsed: Value<unknown> = variable.parse(text);
    if (parsed.ok) given[name] = parsed.value;
    else faults.push(`${name} ${parsed.must}${quote(text, variable)}`);
  }
  // Safe: each entry was produced by the parser of that name.
  const read = given as Read;
  const isSet = (name: string) => (env[name] ?? '') !== '';
  if (read.SVC_ENV === 'production') faults.push(...productionFaults(read, names, isSet));
  for (const name of ['DATABASE_URL', 'DATABASE_READ_URL'] as const) {
    const open = read[name] === undefined ? null : databaseTlsFault(env, name);
    if (open !== null) faults.push(open);
  }
  return { read, faults };
};

/** All DIDs of this deployment contain the domain; with an invalid one every Grant would be malformed. */
const NO_DOMAIN =
  'SVC_BASE_URL has a host that cannot be part of a did:web DID: set SVC_DOMAIN to a host name that can';

const withGoodDomain = <C extends { readonly domain: string }>(
  config: C,
): { readonly ok: true; readonly config: C } | { readonly ok: false; readonly faults: readonly string[] } =>
  didDomain(config.domain).ok ? { ok: true, config } : { ok: false, faults: [NO_DOMAIN] };

const OWN = [...ALL, ...SECRET_NAMES.map(fileVariable)];
const KNOWN: ReadonlySet<string> = new Set([...OWN, ...CLIENT_VARIABLES]);

const unknownVariables = (env: Environment): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !KNOWN.has(name))
    .sort()
    .map((name) => {
      const near = findNearName(name, OWN);
      const hint = near === null ? '' : `; did you mean ${near}?`;
      return `${name} is not a variable of this service${hint}`;
    });

const QUOTED_CHARS = 60;

/** A URL with user info contains a password, so it is not shown. */
const quote = (text: string, { secret }: Variable): string => {
  if (secret || text.includes('@')) return '';
  return `, not ${JSON.stringify(text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}…` : text)}`;
};

const productionFaults = (
  read: Read,
  names: readonly VariableName[],
  isSet: (name: string) => boolean,
): string[] => {
  const faults: string[] = [];
  for (const name of names) {
    const { production }: Variable = VARIABLES[name];
    if (production === 'required' && !isSet(name)) faults.push(`${name} is required in production`);
    // SVC_DEMO=0 is allowed: it is production's default.
    if (production === 'refused' && isSet(name) && read[name] !== false)
      faults.push(`${name} is refused in production`);
  }
  if (!isSet('SVC_BASE_URL') && !isSet('SVC_DOMAIN'))
    faults.push('SVC_BASE_URL or SVC_DOMAIN is required in production: the DIDs contain it');
  for (const name of ['SVC_BASE_URL', 'SVC_STATUS_BASE_URL'] as const)
    if (read[name] !== undefined && !isHttpsOrLoopback(read[name]))
      faults.push(`${name} must be https in production`);
  if (read.SVC_SELF_SERVE === true && !isSet('SVC_SANDBOX_KEYS'))
    faults.push(
      'SVC_SANDBOX_KEYS is required in production with SVC_SELF_SERVE=1: these keys sign the Grants of starters',
    );
  return faults;
};

/** Loopback is allowed so that a production configuration can be tried on one machine. */
const isHttpsOrLoopback = (address: string): boolean => {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
};

const portOf = (read: Read): number => read.SVC_PORT ?? DEFAULT_PORTS.api;
const adminPortOf = (read: Read): number => read.SVC_ADMIN_PORT ?? DEFAULT_PORTS.admin;

const crossFaults = (read: Read): string[] => {
  const faults: string[] = [];
  if (portOf(read) === adminPortOf(read)) faults.push('SVC_PORT and SVC_ADMIN_PORT must differ');
  if ((read.SVC_PROCESSES ?? 1) > 1 && read.DATABASE_URL === undefined)
    faults.push('SVC_PROCESSES needs DATABASE_URL: only one process can use the embedded database');
  if (read.DATABASE_READ_URL !== undefined && read.DATABASE_URL === undefined)
    faults.push('DATABASE_READ_URL needs DATABASE_URL: it is a replica of that database');
  if (read.DATABASE_READ_URL !== undefined && read.DATABASE_READ_URL === read.DATABASE_URL)
    faults.push(
      'DATABASE_READ_URL must not be the same as DATABASE_URL: let it name a replica, or leave it out',
    );
  if (read.SVC_ADMIN_TOKEN !== undefined && read.SVC_PROVISION_KEYS?.includes(read.SVC_ADMIN_TOKEN))
    faults.push('SVC_PROVISION_KEYS must not contain SVC_ADMIN_TOKEN');
  if (read.SVC_SELF_SERVE === true && read.SVC_PROVISION_KEYS === undefined)
    faults.push('SVC_SELF_SERVE=1 needs SVC_PROVISION_KEYS: without a key nobody can sign up');
  if (read.SVC_SSF === true && read.SVC_WEBHOOK_KEYS === undefined && read.SVC_DEMO !== true)
    faults.push('SVC_SSF=1 needs SVC_WEBHOOK_KEYS: without it no worker delivers events');
  if (read.SVC_FENCE_ENDPOINT !== undefined && !read.SVC_FENCE?.startsWith('s3:'))
    faults.push('SVC_FENCE_ENDPOINT needs SVC_FENCE=s3://<bucket>/<prefix>');
  if (read.SVC_COLD_ENDPOINT !== undefined && !read.SVC_COLD?.startsWith('s3:'))
    faults.push('SVC_COLD_ENDPOINT needs SVC_COLD=s3://<bucket>/<prefix>');
  return faults;
};

/** Members that API and runner must have in common. */
const placeOf = (read: Read) => {
  const env = read.SVC_ENV ?? 'development';
  const { baseUrl, domain } = names(read, env, portOf(read));
  return {
    env,
    adminHost: read.SVC_ADMIN_HOST ?? '127.0.0.1',
    adminPort: adminPortOf(read),
    baseUrl,
    domain,
    statusBaseUrl: read.SVC_STATUS_BASE_URL ?? standardStatusBaseUrl(env, baseUrl, domain),
  };
};

/** Members that API and worker have in common. */
const serviceConfigOf = (read: Read): ServiceConfig => ({
  ...placeOf(read),
  database:
    read.DATABASE_URL === undefined ? { kind: 'embedded' } : { kind: 'external', url: read.DATABASE_URL },
  promisesStandby: read.SVC_SYNCHRONOUS_STANDBY ?? false,
  fence: fenceOf(read),
  cold: coldOf(read),
  dataDir: read.SVC_DATA_DIR ?? '.data',
  webhookKeys: read.SVC_WEBHOOK_KEYS ?? [],
  ssf: read.SVC_SSF ?? false,
  statusKeysPath: read.SVC_STATUS_KEYS ?? null,
  keyPassphrasePath: read.SVC_KEY_PASSPHRASE_FILE ?? null,
  pkcs11PinPath: read.SVC_PKCS11_PIN_FILE ?? null,
  ed25519: read.SVC_ED25519 ?? 'auto',
  tenantLimits: tenantLimits(read),
  entitlements: read.SVC_ENTITLEMENTS ?? 'log',
  compOrgs: read.SVC_COMP_ORGS ?? [],
  selfTestOrgs: read.SVC_SELF_TEST_ORGS ?? [],
  outboundMap: read.SVC_OUTBOUND_MAP ?? null,
});

const buildConfig = (read: Read): Config => {
  const service = serviceConfigOf(read);
  return {
    ...service,
    host: read.SVC_HOST ?? '127.0.0.1',
    port: portOf(read),
    processes: read.SVC_PROCESSES ?? 1,
    statusHost: statusHostOf(service.statusBaseUrl, service.baseUrl),
    databaseReadUrl: read.DATABASE_READ_URL ?? null,
    adminToken: read.SVC_ADMIN_TOKEN ?? null,
    provisionKeys: read.SVC_PROVISION_KEYS ?? [],
    receiptKeysPath: read.SVC_RECEIPT_KEYS ?? null,
    sandboxKeysPath: read.SVC_SANDBOX_KEYS ?? null,
    demo: read.SVC_DEMO ?? false,
    demoPerDay: read.SVC_DEMO_PER_DAY ?? 20_000,
    selfServe: read.SVC_SELF_SERVE === true ? selfServeLimits(read) : null,
    trustProxyHops: read.SVC_TRUST_PROXY ?? 0,
  };
};

const fenceOf = (read: Read): FenceConfig | null => {
  const place = read.SVC_FENCE ?? 'none';
  if (place === 'none') return null;
  return { place, endpoint: read.SVC_FENCE_ENDPOINT ?? null, maxAgeMs: read.SVC_FENCE_MAX_AGE_MS ?? 1_000 };
};

const coldOf = (read: Read): ColdConfig | null => {
  const place = read.SVC_COLD ?? 'none';
  if (place === 'none') return null;
  return {
    ...{ place, endpoint: read.SVC_COLD_ENDPOINT ?? null },
    ...{ hotDays: read.SVC_HOT_DAYS ?? 35, graceDays: read.SVC_COLD_GRACE_DAYS ?? 7 },
  };
};

const selfServeLimits = (read: Read): SelfServeLimits => ({
  perMinute: read.SVC_SELF_SERVE_PER_MINUTE ?? 60,
  ipPerHour: read.SVC_SELF_SERVE_IP_PER_HOUR ?? 5,
  relyingPartyPerHour: read.SVC_SELF_SERVE_RP_PER_HOUR ?? 30,
  orgsPerDay: read.SVC_SELF_SERVE_PER_DAY ?? 500,
});

const tenantLimits = (read: Read): TenantLimits => ({
  liveKeys: read.SVC_MAX_LIVE_KEYS ?? 20,
  members: read.SVC_MAX_MEMBERS ?? 200,
  changesWithoutPlan: read.SVC_SELF_SERVE_CHANGES ?? 2_000,
  subjectPerMinute: read.SVC_SUBJECT_PER_MINUTE ?? 600,
  orgPerMinute: read.SVC_ORG_PER_MINUTE ?? 2_400,
  orgVerifiesPerMinute: read.SVC_ORG_VERIFIES_PER_MINUTE ?? 1_000_000,
  connectionsPerAddress: read.SVC_CONNECTIONS_PER_ADDRESS ?? 512,
});

/** The base URL and the DID domain; each is derived from the other if only one is given. */
const names = (read: Read, env: Config['env'], port: number): { baseUrl: string; domain: string } => {
  const scheme = env === 'production' ? 'https' : 'http';
  const fromDomain = read.SVC_DOMAIN && `${scheme}://${read.SVC_DOMAIN.replace('%3A', ':')}`;
  const baseUrl = read.SVC_BASE_URL ?? fromDomain ?? `http://localhost:${port}`;
  return { baseUrl, domain: read.SVC_DOMAIN ?? new URL(baseUrl).host.replace(':', '%3A') };
};

const standardStatusBaseUrl = (env: Config['env'], baseUrl: string, domain: string): string =>
  env === 'production' ? `https://status.${domain.replace('%3A', ':')}` : `${baseUrl}/status-lists`;

const statusHostOf = (statusBaseUrl: string, baseUrl: string): string | null => {
  const { host, pathname } = new URL(statusBaseUrl);
  return pathname === '/' && host !== new URL(baseUrl).host ? host : null;
};
