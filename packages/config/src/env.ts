/**
 * Every variable that the process reads (protocol §14): its name, parser, default and purpose. `--help` and parseConfig
 * are derived from it.
 */

import type { ValueParser } from './values.ts';
import * as values from './values.ts';

export interface Variable<T = unknown> {
  readonly parse: ValueParser<T>;
  /** The default, in words. */
  readonly standard: string;
  readonly meaning: string;
  /** Additional requirement in production. */
  readonly production?: 'required' | 'refused';
  /** The value is never shown, not even in an error. */
  readonly secret?: true;
}

const variable = <T>(entry: Variable<T>): Variable<T> => entry;

export const DEFAULT_PORTS = { api: 8080, admin: 9464 } as const;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const VARIABLES = {
  SVC_ENV: variable({
    parse: values.oneOf('development', 'production'),
    standard: 'development',
    meaning: 'development or production.',
  }),
  SVC_HOST: variable({
    parse: values.hostName,
    standard: '127.0.0.1',
    meaning: 'Address that the API binds to.',
  }),
  SVC_PORT: variable({
    parse: values.integer(1, 65535),
    standard: String(DEFAULT_PORTS.api),
    meaning: 'Port of the API.',
  }),
  SVC_PROCESSES: variable({
    parse: values.integer(1, 64),
    standard: '1',
    meaning: 'Number of API processes behind the port, 1 to 64; best one for each core. Each is a node.',
  }),
  SVC_ADMIN_HOST: variable({
    parse: values.hostName,
    standard: '127.0.0.1',
    meaning:
      'Address that the admin port binds to. That port asks for no credential, so any other address must be private.',
  }),
  SVC_ADMIN_PORT: variable({
    parse: values.integer(0, 65535),
    standard: String(DEFAULT_PORTS.admin),
    meaning:
      'Port of /livez, /readyz, /servez and the Prometheus text. Keep it private. 0: any free port; the log names it.',
  }),
  SVC_BASE_URL: variable({
    parse: values.address,
    standard: 'from SVC_DOMAIN, else http://localhost:<port>',
    meaning: 'Public address of the API.',
  }),
  SVC_DOMAIN: variable({
    parse: values.didDomain,
    standard: 'from SVC_BASE_URL, for example localhost%3A8080',
    meaning: 'Domain of the service, as it is written in DIDs. Production needs this or SVC_BASE_URL.',
  }),
  SVC_STATUS_BASE_URL: variable({
    parse: values.address,
    standard: '{base}/status-lists; in production https://status.<domain>',
    meaning: 'Address under which status lists are published.',
  }),
  DATABASE_URL: variable({
    parse: values.databaseUrl,
    standard: 'an embedded PostgreSQL in SVC_DATA_DIR',
    meaning: 'URL of PostgreSQL 15 or later: one server, or several separated by commas.',
    production: 'required',
    secret: true,
  }),
  DATABASE_READ_URL: variable({
    parse: values.databaseUrl,
    standard: 'none: reports are read from DATABASE_URL',
    meaning:
      'URL of a streaming replica of that PostgreSQL, or of several separated by commas. Lists, export, statistics, usage and metrics are read there.',
    secret: true,
  }),
  SVC_DATABASE_WITHOUT_TLS: variable({
    parse: values.flag,
    standard: '0',
    meaning:
      '1: production may reach PostgreSQL on another machine without TLS (no sslmode in DATABASE_URL or DATABASE_READ_URL), for example over a private network.',
  }),
  SVC_SYNCHRONOUS_STANDBY: variable({
    parse: values.flag,
    standard: '0',
    meaning:
      '1: the deployment promises that a synchronous standby has everything that was answered. /readyz and metrics report when none has.',
  }),
  SVC_FENCE: variable({
    parse: values.fencePlace,
    standard: 'none',
    meaning:
      'Place of the fence, which detects a restored or replaced database: file:///<folder> or s3://<bucket>/<prefix>, separate from the database and its backups. none: nothing detects it.',
    production: 'required',
  }),
  SVC_FENCE_ENDPOINT: variable({
    parse: values.address,
    standard: "Amazon's, by AWS_REGION",
    meaning: 'Address of the S3-compatible storage that SVC_FENCE names.',
  }),
  SVC_FENCE_MAX_AGE_MS: variable({
    parse: values.integer(500, 10_000),
    standard: '1000',
    meaning:
      'Greatest age of the last confirmation of the fence, in ms, 500 to 10000. With an older one nothing is decided.',
  }),
  SVC_COLD: variable({
    parse: values.fencePlace,
    standard: 'none',
    meaning:
      'Store that closed days are packed into and read from: file:///<folder> or s3://<bucket>/<prefix>, the same for every process. none: no day is packed.',
  }),
  SVC_COLD_ENDPOINT: variable({
    parse: values.address,
    standard: "Amazon's, by AWS_REGION",
    meaning: 'Address of the S3-compatible storage that SVC_COLD names.',
  }),
  SVC_HOT_DAYS: variable({
    parse: values.integer(0, 10_000),
    standard: '35',
    meaning:
      'Number of days for which a day stays in the ledger after its end, before it is packed. 0: no day is packed.',
  }),
  SVC_COLD_GRACE_DAYS: variable({
    parse: values.integer(1, 10_000),
    standard: '7',
    meaning:
      'Number of days for which a packed day is kept in the database, beside the ledger, before it is removed from there.',
  }),
  SVC_DATA_DIR: variable({
    parse: values.path,
    standard: '.data',
    meaning: 'Folder of the embedded database and the development keys.',
  }),
  SVC_ADMIN_TOKEN: variable({
    parse: values.secret,
    standard: 'generated and printed',
    meaning: 'Token of the operator; at least 32 characters.',
    production: 'required',
    secret: true,
  }),
  SVC_PROVISION_KEYS: variable({
    parse: values.listOf(values.secret),
    standard: 'none: self-serve is off',
    meaning: 'Keys with which the console signs tenants up, comma-separated; several during a rotation.',
    secret: true,
  }),
  SVC_WEBHOOK_KEYS: variable({
    parse: values.listOf(values.secret),
    standard: 'none: no webhooks are sent; with SVC_DEMO, generated in SVC_DATA_DIR',
    meaning:
      'Keys from which the secrets of webhook endpoints are derived, comma-separated, the key for new secrets first. The same for API and worker.',
    secret: true,
  }),
  SVC_SSF: variable({
    parse: values.flag,
    standard: '0',
    meaning:
      '1: the service is also a Shared Signals transmitter (OpenID SSF 1.0) at /ssf, with the events of webhooks; the worker pushes them. The same for API and worker. Needs SVC_WEBHOOK_KEYS.',
  }),
  SVC_RECEIPT_KEYS: variable({
    parse: values.path,
    standard: 'generated in SVC_DATA_DIR',
    meaning: 'Path of the JWK set that signs Receipts, active key first.',
    production: 'required',
  }),
  SVC_STATUS_KEYS: variable({
    parse: values.path,
    standard: 'generated in SVC_DATA_DIR',
    meaning: 'Path of the JWK set that signs status lists and checkpoints, active key first.',
    production: 'required',
  }),
  SVC_SANDBOX_KEYS: variable({
    parse: values.path,
    standard: 'generated in SVC_DATA_DIR',
    meaning:
      'Path of the JWK set that signs Grants of the sandbox Principal, active key first. Needed with SVC_DEMO or SVC_SELF_SERVE.',
  }),
  SVC_KEY_PASSPHRASE_FILE: variable({
    parse: values.path,
    standard: 'none',
    meaning: 'Path of the file with the passphrase for encrypted private key files (file: in a JWK set).',
  }),
  SVC_PKCS11_PIN_FILE: variable({
    parse: values.path,
    standard: 'pin-source in the URI of the key',
    meaning: 'Path of the file with the PIN of PKCS#11 tokens (pkcs11: in a JWK set).',
  }),
  SVC_ED25519: variable({
    parse: values.oneOf('auto', 'node'),
    standard: 'auto',
    meaning:
      'Library for Ed25519 signatures. auto: libsodium if its binary loads, otherwise node:crypto; node: always node:crypto.',
  }),
  SVC_DEMO: variable({
    parse: values.flag,
    standard: '0 (npm start sets 1)',
    meaning: '1: serves the sandbox.',
    production: 'refused',
  }),
  SVC_DEMO_PER_DAY: variable({
    parse: values.integer(1, 1_000_000_000),
    standard: '20000',
    meaning: 'Limit of calls that store something in the sandbox, in a UTC day on all nodes together.',
  }),
  SVC_SELF_SERVE: variable({
    parse: values.flag,
    standard: '0',
    meaning: '1: serves self-serve signup. Needs SVC_PROVISION_KEYS.',
  }),
  SVC_SELF_SERVE_PER_MINUTE: variable({
    parse: values.integer(1, 100_000),
    standard: '60',
    meaning: 'Limit of self-serve calls with one provision key, per minute and node.',
  }),
  SVC_SELF_SERVE_IP_PER_HOUR: variable({
    parse: values.integer(1, 100_000),
    standard: '5',
    meaning: 'Limit of sign-ups from one customer address, per hour and node.',
  }),
  SVC_SELF_SERVE_RP_PER_HOUR: variable({
    parse: values.integer(1, 100_000),
    standard: '30',
    meaning: 'Limit of starters and first Receipts for one relying party, per hour and node.',
  }),
  SVC_SELF_SERVE_PER_DAY: variable({
    parse: values.integer(1, 1_000_000),
    standard: '500',
    meaning: 'Limit of new orgs in a UTC day, on all nodes together.',
  }),
  SVC_SELF_SERVE_CHANGES: variable({
    parse: values.integer(1, 1_000_000_000),
    standard: '2000',
    meaning:
      'Limit of changes that an org may make in total before it has a plan. Changes that take authority away are not counted.',
  }),
  SVC_MAX_LIVE_KEYS: variable({
    parse: values.integer(1, 10_000),
    standard: '20',
    meaning: 'Limit of live API keys of one Principal, relying party or org, and of the observers.',
  }),
  SVC_MAX_MEMBERS: variable({
    parse: values.integer(1, 100_000),
    standard: '200',
    meaning: 'Limit of Principals and relying parties of one org, together.',
  }),
  SVC_SUBJECT_PER_MINUTE: variable({
    parse: values.integer(120, 1_000_000),
    standard: '600',
    meaning:
      'Limit of calls, without verifications, with all keys of one subject, per minute and node; at least 120.',
  }),
  SVC_ORG_PER_MINUTE: variable({
    parse: values.integer(120, 10_000_000),
    standard: '2400',
    meaning: 'The same limit for one org with all its members; at least 120.',
  }),
  SVC_ORG_VERIFIES_PER_MINUTE: variable({
    parse: values.integer(1, 100_000_000),
    standard: '1000000',
    meaning: 'Limit of verifications by all relying parties of one org, per minute and node.',
  }),
  SVC_CONNECTIONS_PER_ADDRESS: variable({
    parse: values.integer(1, 8_192),
    standard: '512',
    meaning:
      'Limit of open connections from one client address (IPv6: from one /64). Not applied with SVC_TRUST_PROXY.',
  }),
  SVC_ENTITLEMENTS: variable({
    parse: values.oneOf('log', 'enforce'),
    standard: 'log',
    meaning: 'enforce: refuses production checks of an org without a plan; log: only records them.',
  }),
  SVC_COMP_ORGS: variable({
    parse: values.listOf(values.orgIdText),
    standard: 'none',
    meaning: 'Org ids that never need a plan, comma-separated.',
  }),
  SVC_SELF_TEST_ORGS: variable({
    parse: values.listOf(values.orgIdText),
    standard: 'none',
    meaning: 'Org ids that the public counters leave out, comma-separated. They never need a plan.',
  }),
  SVC_TRUST_PROXY: variable({
    parse: values.integer(0, 10),
    standard: '0',
    meaning: 'Number of proxies in front of the API that append to X-Forwarded-For.',
  }),
  SVC_LOG_LEVEL: variable({
    parse: values.oneOf(...LOG_LEVELS),
    standard: 'info',
    meaning:
      'Lowest level that is logged: debug, info, warn or error. Lines "revocation" are written at every level, since a restore needs them.',
  }),
  SVC_OUTBOUND_MAP: variable({
    parse: values.outboundMap,
    standard: 'none',
    meaning: 'JSON: host name → loopback base URL, and "txt:<name>" → TXT answers, for local tests.',
    production: 'refused',
  }),
} as const;

export type VariableName = keyof typeof VARIABLES;

/** The variables whose value may come from a file (secret-files.ts). */
export const SECRET_NAMES: readonly string[] = Object.entries(VARIABLES)
  .filter(([, variable]: [string, Variable]) => variable.secret === true)
  .map(([name]) => name);

export const fileVariable = (name: string): string => `${name}_FILE`;

/**
 * Variables of the service's clients, which may share an environment with the service or with `svc-admin`. Ignored
 * here.
 */
export const CLIENT_VARIABLES: readonly string[] = [
  ...['SVC_URL', 'SVC_DID'],
  ...['SVC_RP_KEY', 'SVC_PRINCIPAL_KEY', 'SVC_ORG_KEY'],
];

const PRODUCTION_NOTE = { required: ' Required in production.', refused: ' Refused in production.' } as const;

/** The text of `--help` for the variables in `names`. */
export const describeVariables = (names: readonly string[] = Object.keys(VARIABLES)): string =>
  Object.entries(VARIABLES)
    .filter(([name]) => names.includes(name))
    .map(([name, { meaning, standard, production, secret }]: [string, Variable]) => {
      const note = production === undefined ? '' : PRODUCTION_NOTE[production];
      const file = secret ? ` ${name}_FILE may name a file with the value instead.` : '';
      return `${name}\n    ${meaning}${note}${file}\n    Default: ${standard}`;
    })
    .join('\n');
