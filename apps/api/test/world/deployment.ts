/** API nodes on a database, with what tests need: tenants, orgs, and keys of every class. */
import { randomBytes } from 'node:crypto';
import { encodeUlid } from '@svc/protocol';
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { type ApiKeyRole, issueApiKey, parseApiKey } from '@svc/service';
import { type OwnCluster, startOwnCluster, withDatabase } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { HttpLimits } from '../../src/http/index.ts';
import { ADMIN_TOKEN, type ApiNode, type ApiNodes, type InnerNode, startApiNodes } from './api-node.ts';
import { type ApiProcess, startApiProcesses } from './api-process.ts';
import {
  type ContractAnswer,
  type ContractCallOptions,
  contractCall,
  contractFetch,
} from './contract-call.ts';
import { type RunningDeployment, worker } from './shared-deployment.ts';
import type { Tenants } from './tenants.ts';

export interface Registered {
  readonly did: string;
  readonly key: string;
  readonly body: Record<string, unknown>;
}

export interface Deployment<Node extends ApiNode = ApiNode> {
  /** The first of `processes`, which all serve the same deployment. */
  readonly process: Node;
  readonly processes: readonly Node[];
  readonly databaseUrl: string;
  readonly sql: Client;
  call(method: string, path: string, options?: ContractCallOptions): Promise<ContractAnswer>;
  /** Sends a POST as the operator; resolves with the body of a 201. */
  register(path: '/principals' | '/relying-parties', body: object, key?: string): Promise<Registered>;
  /** A managed Principal with an Agent, and a managed relying party; members of `orgId` where it is given. */
  createTenants(options?: { orgId?: string; rp?: object }): Promise<Tenants>;
  createOrg(): Promise<string>;
  /** A live key, stored as the service stores its own. */
  createKey(role: ApiKeyRole, subject: string): Promise<string>;
  revokeKey(key: string): Promise<void>;
  /**
   * Resolves when `count` sessions of this database wait for a lock. Sessions of other databases on the server do not
   * count.
   */
  untilWaiting(count: number): Promise<void>;
  /**
   * Runs `work` while a commit of this Principal holds its barrier, in a transaction of `sql`. In a sample, barriers
   * meanwhile wait 0.3 s for their lock, not 2 s.
   */
  whileBarrierIsHeld(principalDid: string, work: () => Promise<void>): Promise<void>;
}

/** They wait for the Principal's lock, under a time limit of their own. */
const BARRIER_FUNCTIONS = ['svc_pass_barrier', 'svc_stamp_revoked'];

export const randomSlug = (prefix: string): string => `${prefix}-${randomBytes(5).toString('hex')}`;
export const newOrgId = (): string => `org_${encodeUlid(Date.now(), randomBytes(10))}`;

/**
 * Two nodes within this process, with the default configuration and the sandbox, for a test file that can share them
 * with others: it makes assertions only about its own tenants, keys and rows, and changes nothing that another file
 * uses.
 */
export const withDeployment = (): Deployment<InnerNode> => {
  let running: RunningDeployment<InnerNode> | undefined;
  worker.beforeAll(({ shared }) => {
    running = shared;
  });
  return declare(() => running);
};

/** A deployment for this file only, with nodes within this process. `env` and `limits` add to what all nodes have. */
export const withOwnDeployment = (
  env: Environment = {},
  nodes = 1,
  limits: Partial<HttpLimits> = {},
): Deployment<InnerNode> =>
  declareOwn(env, (databaseUrl) =>
    startApiNodes(nodes, databaseUrl, { SVC_TRUST_PROXY: '1', ...env }, limits),
  );

/**
 * The same with real processes, for faults that one process could hide: races, logs, files that a program finds beside
 * it.
 */
export const withProcesses = (env: Environment = {}, count = 1): Deployment<ApiProcess> =>
  declareOwn(env, (databaseUrl) => startApiProcesses(count, databaseUrl, { SVC_TRUST_PROXY: '1', ...env }));

/**
 * Nodes that share only the database and the keys: separate processes in a deep run. In a sample they are nodes of this
 * process, which share no more.
 */
export const withSeparateNodes = (env: Environment = {}, count = 1): Deployment =>
  isDeep ? withProcesses(env, count) : withOwnDeployment(env, count);

type Environment = Readonly<Record<string, string>>;

/** A server of its own: production refuses the shared one, which does not write durably. */
const withDurableDatabase = (): { readonly url: string } => {
  let cluster: OwnCluster | undefined;
  beforeAll(async () => {
    cluster = await startOwnCluster();
  }, 60_000);
  afterAll(() => cluster?.stop(), 60_000);
  return {
    get url() {
      if (cluster === undefined) throw new Error('the cluster exists from beforeAll on');
      return cluster.url;
    },
  };
};

const declareOwn = <Node extends ApiNode>(
  { SVC_ENV }: Environment,
  start: (databaseUrl: string) => Promise<ApiNodes<Node>>,
): Deployment<Node> => {
  const database = SVC_ENV === 'production' ? withDurableDatabase() : withDatabase();
  let api: ApiNodes<Node> | undefined;
  beforeAll(async () => {
    api = await start(database.url);
  });
  afterAll(() => api?.stop());
  return declare(() => api && { databaseUrl: database.url, processes: api.processes });
};

/** `find` returns the deployment from the file's first `beforeAll` on. */
const declare = <Node extends ApiNode>(find: () => RunningDeployment<Node> | undefined): Deployment<Node> => {
  let sql: Client | undefined;
  beforeAll(async () => {
    sql = new Client({ connectionString: deployment.databaseUrl });
    await sql.connect();
  });
  afterAll(() => sql?.end());
  const started = <T>(thing: T | undefined): T => {
    if (thing === undefined) throw new Error('the deployment exists from beforeAll on');
    return thing;
  };
  const deployment: Deployment<Node> = {
    get process() {
      return started(deployment.processes[0]);
    },
    get processes() {
      return started(find()).processes;
    },
    get databaseUrl() {
      return started(find()).databaseUrl;
    },
    get sql() {
      return started(sql);
    },
    call: (method, path, options) => contractCall(deployment.process.baseUrl, method, path, options),
    register: async (path, body, key = ADMIN_TOKEN) => {
      const { status, text, json } = await deployment.call('POST', path, { key, body });
      if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
      return { did: String(json.did), key: String(json.api_key), body: json };
    },
    createTenants: (options) => createTenants(deployment, options),
    createOrg: async () => {
      const orgId = newOrgId();
      const values = [orgId, randomSlug('org'), 'An org'];
      await deployment.sql.query('insert into orgs (org_id, slug, name) values ($1, $2, $3)', values);
      return orgId;
    },
    createKey: (role, subject) => createKey(deployment.sql, role, subject),
    revokeKey: async (key) => {
      const keyHash = parseApiKey(key)?.keyHash ?? '';
      const { rowCount } = await deployment.sql.query(
        `update api_keys set revoked_at = now() where key_hash = decode($1, 'hex')`,
        [keyHash],
      );
      if (rowCount !== 1) throw new Error('no such key');
    },
    untilWaiting: async (count) => {
      for (let waiting = 0; waiting < count; ) {
        // Without it PostgreSQL answers the same statistics until the end of the transaction.
        await deployment.sql.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await deployment.sql.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        waiting = rowCount ?? 0;
      }
    },
    whileBarrierIsHeld: async (principalDid, work) => {
      const restore = isDeep ? async () => {} : await shortenWaits(deployment.sql);
      try {
        await deployment.sql.query('begin');
        await deployment.sql.query('select pg_advisory_xact_lock_shared(1, hashtext($1))', [principalDid]);
        await work();
      } finally {
        await deployment.sql.query('rollback').finally(restore);
      }
    },
  };
  return deployment;
};

/** A barrier waits 0.3 s for its lock, not 2 s, until the returned function is called. */
const shortenWaits = async (sql: Client): Promise<() => Promise<void>> => {
  const former: string[] = [];
  for (const name of BARRIER_FUNCTIONS) {
    const { rows } = await sql.query<{ text: string }>('select pg_get_functiondef($1::regproc) as text', [
      name,
    ]);
    former.push(...rows.map(({ text }) => text));
    await sql.query(`alter function ${name} set lock_timeout = '300ms'`);
  }
  return async () => {
    for (const text of former) await sql.query(text);
  };
};

const createKey = async (sql: Client, role: ApiKeyRole, subject: string): Promise<string> => {
  const apiKeys = {
    findById: async () => null,
    insert: async (key: { keyHash: string; keyId: string; label: string | null }) => {
      await sql.query(
        `insert into api_keys (key_hash, key_id, role, subject, label) values (decode($1, 'hex'), $2, $3, $4, $5)`,
        [key.keyHash, key.keyId, role, subject, key.label],
      );
    },
  };
  // Issuing a key uses only these two methods.
  const tx = { apiKeys } as unknown as Parameters<typeof issueApiKey>[0];
  const random = { bytes: (length: number) => randomBytes(length) };
  return (await issueApiKey(tx, random, { role, subject, label: null })).value;
};

const createTenants = async (
  { register, process }: Deployment,
  { orgId, rp = {} }: { orgId?: string; rp?: object } = {},
): Promise<Tenants> => {
  const org = orgId === undefined ? {} : { org_id: orgId };
  const key = await generatePrincipalKey();
  const principal = await register('/principals', {
    kind: 'managed',
    slug: randomSlug('p'),
    keys: [key.registration],
    ...org,
  });
  const relyingParty = await register('/relying-parties', {
    kind: 'managed',
    slug: randomSlug('r'),
    ...org,
    ...rp,
  });
  return {
    principalDid: principal.did,
    principalKey: principal.key,
    principal: createPrincipalClient({
      baseUrl: process.baseUrl,
      apiKey: principal.key,
      signer: signerFromJwk(key.privateJwk, `${principal.did}#key-1`),
      fetch: contractFetch,
    }),
    agent: agentFromJwk((await generateAgentKey()).privateJwk),
    rpDid: relyingParty.did,
    rpKey: relyingParty.key,
  };
};
