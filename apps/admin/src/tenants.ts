/**
 * `svc-admin org|principal|relying-party create` and `org key`: register tenants over the API with the admin token, so
 * that every rule of the API applies and the audit log records the change.
 */
import { UsageError } from '@svc/cli/command-line';
import { isProtected } from '@svc/cli/protected-address';
import { type Environment, readSecretFiles } from '@svc/config';
import { readConfig } from '@svc/process';
import type { Command } from './command.ts';

const ANSWER_MS = 15_000;
const API = { api: { value: 'URL', text: 'address of the API; default: SVC_BASE_URL' } } as const;
const OVER_THE_API = [
  'The command calls the API with the admin token in SVC_ADMIN_TOKEN or SVC_ADMIN_TOKEN_FILE.',
];

type Values = Readonly<Record<string, unknown>>;

/**
 * Output as lines of an environment file: the variables, and the member of the answer for each. Default output: JSON.
 */
type Names = Readonly<Record<string, 'did' | 'org_id' | 'api_key'>>;

/** 0, with the answer printed; 1 if the API refused, with its message. */
const post = async (
  env: Environment,
  values: Values,
  path: string,
  body: object,
  names?: Names,
): Promise<number> => {
  const { env: given, faults } = readSecretFiles(env, ['SVC_ADMIN_TOKEN']);
  const token = given.SVC_ADMIN_TOKEN ?? '';
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  if (token === '') throw new UsageError('neither SVC_ADMIN_TOKEN nor SVC_ADMIN_TOKEN_FILE is set');
  const baseUrl = typeof values.api === 'string' ? values.api.replace(/\/+$/, '') : readConfig(env).baseUrl;
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new UsageError(
      `${baseUrl} is not an address: begin it with https://, or with http:// for this machine`,
    );
  if (!isProtected(new URL(baseUrl)))
    throw new UsageError(
      `${baseUrl} must be https: otherwise anybody on the network path could read the admin token`,
    );
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: unknown) => {
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new Error(`${baseUrl} did not answer: ${why}. Give another address of the service with --api`);
  });
  const text = await response.text();
  if (response.ok) {
    console.log(show(readJson(text, `${baseUrl}${path}`), values.env === true ? names : undefined));
    return 0;
  }
  console.error(`${baseUrl}${path} answered ${response.status}: ${describeRefusal(response.status, text)}`);
  return 1;
};

/** The message of an API error, in the terms of the command line; any other answer is returned unchanged. */
const describeRefusal = (status: number, text: string): string => {
  const message = messageIn(text);
  if (message === null) return text;
  if (status === 401) return "SVC_ADMIN_TOKEN is not this service's admin token";
  return message
    .replace(/\bbody\.keys\[[0-9]+\](?:\.\w+)?/g, '--key')
    .replace(/\bkeys\[[0-9]+\]\.\w+:/g, '--key');
};

const messageIn = (text: string): string | null => {
  try {
    const { message } = Object(JSON.parse(text));
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
};

const show = (answer: unknown, names: Names | undefined): string => {
  if (names === undefined) return JSON.stringify(answer, null, 2);
  return Object.entries(names)
    .map(([name, member]) => `${name}=${Object(answer)[member]}`)
    .join('\n');
};

/** The sender may be something else than the API, such as a proxy with its own page. */
const readJson = (text: string, address: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${address} answered 200 without JSON: check that it is the address of the API`);
  }
};

/** Drops fields that were not given. */
const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const inEnv = (names: Names) => {
  const lines = Object.keys(names);
  return {
    env: {
      text: `prints only ${lines.join(' and ')}, as ${lines.length > 1 ? 'lines' : 'a line'} of an environment file`,
    },
  };
};
const OF_ORG: Names = { ORG_ID: 'org_id' };
const OF_ORG_KEY: Names = { SVC_ORG_KEY: 'api_key' };
const OF_PRINCIPAL: Names = { PRINCIPAL_DID: 'did', SVC_PRINCIPAL_KEY: 'api_key' };
const OF_RELYING_PARTY: Names = { SHOP_DID: 'did', SVC_RP_KEY: 'api_key' };

export const orgCreateCommand: Command = {
  name: 'org create',
  operand: 'SLUG',
  gist: 'Registers an org',
  options: { name: { value: 'TEXT', text: 'name for people; required' }, ...API, ...inEnv(OF_ORG) },
  notes: OVER_THE_API,
  run: (values, env, slug) => {
    if (values.name === undefined) throw new UsageError('org create needs --name');
    return post(env, values, '/orgs', { slug, name: values.name }, OF_ORG);
  },
};

export const orgKeyCommand: Command = {
  name: 'org key',
  operand: 'ORG_ID',
  gist: 'Makes a new API key for an org, and shows it once',
  options: {
    role: { value: 'NAME', text: 'admin or read; default: admin' },
    label: { value: 'TEXT', text: 'label that distinguishes the key from others' },
    ...API,
    ...inEnv(OF_ORG_KEY),
  },
  notes: OVER_THE_API,
  run: (values, env, orgId) =>
    post(
      env,
      values,
      `/orgs/${encodeURIComponent(orgId)}/api-keys`,
      given({ role: values.role ?? 'admin', label: values.label }),
      OF_ORG_KEY,
    ),
};

const MEMBER = {
  slug: { value: 'SLUG', text: 'managed: the service makes its DID from this slug' },
  did: { value: 'DID', text: 'hosted: its own DID' },
  org: { value: 'ORG_ID', text: 'org that it belongs to' },
  ...API,
} as const;

const kindOf = (what: string, { slug, did }: Values): object => {
  if ((slug === undefined) === (did === undefined))
    throw new UsageError(`${what} needs one of --slug and --did`);
  return slug === undefined ? { kind: 'hosted', did } : { kind: 'managed', slug };
};

export const principalCreateCommand: Command = {
  name: 'principal create',
  gist: 'Registers a Principal, and shows its API key once',
  options: {
    ...MEMBER,
    key: { value: 'KEY', many: true, text: 'public key of a managed Principal, as z6Mk… or NAME=z6Mk…' },
    ...inEnv(OF_PRINCIPAL),
  },
  notes: OVER_THE_API,
  run: (values, env) => {
    const kind = kindOf('principal create', values);
    if (values.slug !== undefined && values.key === undefined)
      throw new UsageError(
        'principal create --slug needs --key: its public key, which the service publishes',
      );
    const keys = (values.key as readonly string[] | undefined)?.map(keyOf);
    return post(env, values, '/principals', given({ ...kind, keys, org_id: values.org }), OF_PRINCIPAL);
  },
};

/** `z6Mk…`, or `NAME=z6Mk…` to set a fragment other than `key-<n>`. */
const keyOf = (text: string): object => {
  const at = text.indexOf('=');
  return at < 0
    ? { publicKeyMultibase: text }
    : { id: text.slice(0, at), publicKeyMultibase: text.slice(at + 1) };
};

export const relyingPartyCreateCommand: Command = {
  name: 'relying-party create',
  gist: 'Registers a relying party, and shows its API key once',
  options: {
    ...MEMBER,
    name: { value: 'TEXT', text: 'name for people' },
    profile: {
      value: 'NAME',
      text: 'set of checks that decides: svc-base-v1, or svc-base-v2, which adds budgets and approvals; default: svc-base-v1',
    },
    'proof-window': { value: 'SECONDS', text: 'greatest age of a Proof, 1 to 300; default: 60' },
    'verify-rate-limit': { value: 'N', text: 'verifications per minute; default: 600' },
    ...inEnv(OF_RELYING_PARTY),
  },
  notes: OVER_THE_API,
  run: (values, env) => {
    const kind = kindOf('relying-party create', values);
    const settings = {
      name: values.name,
      profile: values.profile,
      proof_window_seconds: numberOf(values, 'proof-window'),
      verify_rate_limit_per_minute: numberOf(values, 'verify-rate-limit'),
    };
    const body = given({ ...kind, ...settings, org_id: values.org });
    return post(env, values, '/relying-parties', body, OF_RELYING_PARTY);
  },
};

/** The API checks the range. */
const numberOf = (values: Values, option: string): number | undefined => {
  const text = values[option];
  if (typeof text !== 'string') return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`--${option} must be a whole number, not ${text}`);
  return Number(text);
};
