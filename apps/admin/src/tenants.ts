/**
 * `svc-admin org|principal|relying-party create` and `org key`: what an operator registers, over the API and with the admin token, so
 * that every rule of the API holds and the audit log has it.
 */
import { isProtected, UsageError } from '@svc/cli/options';
import { type Environment, readSecretFiles } from '@svc/config';
import { readConfig } from '@svc/process';
import type { Command } from './command.ts';

const ANSWER_MS = 15_000;
const API = { api: { type: 'string' } } as const;
const API_HELP = '  --api URL      where the API is; SVC_BASE_URL unless given';

type Values = Readonly<Record<string, unknown>>;

/** 0 with the answer printed; 1 where the API refused, with what it said. */
const post = async (env: Environment, values: Values, path: string, body: object): Promise<number> => {
  const { env: given, faults } = readSecretFiles(env, ['SVC_ADMIN_TOKEN']);
  const token = given.SVC_ADMIN_TOKEN ?? '';
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  if (token === '') throw new UsageError('neither SVC_ADMIN_TOKEN nor SVC_ADMIN_TOKEN_FILE is set');
  const baseUrl = typeof values.api === 'string' ? values.api.replace(/\/+$/, '') : readConfig(env).baseUrl;
  if (!URL.canParse(baseUrl) || !isProtected(new URL(baseUrl)))
    throw new UsageError(`${baseUrl} must be https: the admin token would be read by whoever is in between`);
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((error: unknown) => {
    const { cause, message } = error as Error;
    throw new Error(`${baseUrl} did not answer: ${cause instanceof Error ? cause.message : message}`);
  });
  const text = await response.text();
  if (response.ok) {
    console.log(JSON.stringify(readJson(text, `${baseUrl}${path}`), null, 2));
    return 0;
  }
  console.error(`${baseUrl}${path} answered ${response.status}: ${text}`);
  return 1;
};

/** What answers may be something else, such as the page of a proxy in between. */
const readJson = (text: string, address: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${address} answered 200 and no JSON: is it the API?`);
  }
};

/** Without what was not given. */
const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export const orgCreateCommand: Command = {
  name: 'org create',
  operand: 'SLUG',
  help: `a new org, over the API with the admin token.
  --name TEXT    as people see it; needed
${API_HELP}`,
  options: { name: { type: 'string' }, ...API },
  run: (values, env, slug) => {
    if (values.name === undefined) throw new UsageError('org create needs --name');
    return post(env, values, '/orgs', { slug, name: values.name });
  },
};

export const orgKeyCommand: Command = {
  name: 'org key',
  operand: 'ORG_ID',
  help: `a new API key of an org, shown once, over the API with the admin token.
  --role NAME    admin (default) or read
  --label TEXT   to tell it from others
${API_HELP}`,
  options: { role: { type: 'string' }, label: { type: 'string' }, ...API },
  run: (values, env, orgId) =>
    post(
      env,
      values,
      `/orgs/${encodeURIComponent(orgId)}/api-keys`,
      given({ role: values.role ?? 'admin', label: values.label }),
    ),
};

const MEMBER = {
  slug: { type: 'string' },
  did: { type: 'string' },
  org: { type: 'string' },
  ...API,
} as const;
const MEMBER_HELP = `  --slug SLUG    the service names it (managed)
  --did DID      it has its own DID (hosted)
  --org ORG_ID   of this org`;

const kindOf = (what: string, { slug, did }: Values): object => {
  if ((slug === undefined) === (did === undefined))
    throw new UsageError(`${what} needs one of --slug and --did`);
  return slug === undefined ? { kind: 'hosted', did } : { kind: 'managed', slug };
};

export const principalCreateCommand: Command = {
  name: 'principal create',
  help: `registers a Principal, and shows its API key once, over the API with the admin token.
${MEMBER_HELP}
  --key KEY      of a managed one: its public key, z6Mk…
${API_HELP}`,
  options: { ...MEMBER, key: { type: 'string' } },
  run: (values, env) => {
    const kind = kindOf('principal create', values);
    if (values.slug !== undefined && values.key === undefined)
      throw new UsageError(
        'principal create --slug needs --key: its public key, which the service publishes',
      );
    const keys = values.key === undefined ? undefined : [{ publicKeyMultibase: values.key }];
    return post(env, values, '/principals', given({ ...kind, keys, org_id: values.org }));
  },
};

export const relyingPartyCreateCommand: Command = {
  name: 'relying-party create',
  help: `registers a relying party, and shows its API key once, over the API with the admin token.
${MEMBER_HELP}
  --name TEXT    as people see it
${API_HELP}`,
  options: { ...MEMBER, name: { type: 'string' } },
  run: (values, env) => {
    const kind = kindOf('relying-party create', values);
    return post(env, values, '/relying-parties', given({ ...kind, name: values.name, org_id: values.org }));
  },
};
