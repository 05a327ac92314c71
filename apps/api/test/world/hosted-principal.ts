/**
 * A hosted Principal over real HTTP: its own web server on loopback, API nodes, PostgreSQL. The database's clock is the
 * time, so tests set ages there and do not wait.
 */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { withDatabase } from '@svc/testkit';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, startApiNodes } from './api-node.ts';
import { contractCall } from './contract-call.ts';
import { randomSlug } from './deployment.ts';
import {
  DID_DOCUMENT,
  didDocument,
  PROOF,
  type PrincipalHost,
  startPrincipalHost,
} from './principal-host.ts';
import { createTenants, type HeldGrant, receiptOf, type Tenants, verifyBody } from './tenants.ts';

/** Most tests in a group: a host is started for each. */
const MAX_TESTS = 12;

export interface Hosted extends Tenants {
  readonly registered: Readonly<Record<string, unknown>>;
  readonly token: string;
  readonly publicKeyMultibase: string;
}

/**
 * Declares the database of a test file. `withNodes` declares the nodes of a group of tests, each of which has its own
 * Principal.
 */
export const withHostedPrincipal = () => {
  const database = withDatabase();
  let sql: Client;
  beforeAll(async () => {
    sql = new Client({ connectionString: database.url });
    await sql.connect();
  });
  afterAll(() => sql?.end());

  let host: PrincipalHost;
  let shared: ApiNodes;
  let api: ApiNodes;
  let name: string;
  let did: string;

  /**
   * The tests of a group share its nodes, which get the addresses of all hosts at their start. Each test has its own
   * host and name, so that caches hold nothing about it from another test.
   */
  const withNodes = (
    count: number,
    start: (...parameters: Parameters<typeof startApiNodes>) => Promise<ApiNodes> = startApiNodes,
  ): void => {
    const free: [string, PrincipalHost][] = [];
    const hosts: PrincipalHost[] = [];
    beforeAll(async () => {
      for (let i = 0; i < MAX_TESTS; i++) {
        hosts.push(await startPrincipalHost());
        free.push([`${randomSlug('host')}.example`, hosts[i] as PrincipalHost]);
      }
      const map = Object.fromEntries(free.map(([of, { url }]) => [of, url]));
      shared = await start(count, database.url, envOf(map));
    });
    beforeEach(() => {
      [name, host] = free.pop() ?? expect.unreachable('MAX_TESTS is too small');
      did = `did:web:${name}`;
      api = shared;
    });
    afterEach(async () => {
      if (api !== shared) await api.stop();
    });
    afterAll(async () => {
      await shared?.stop();
      await Promise.all(hosts.map((one) => one.close()));
    });
  };

  const envOf = (map: Readonly<Record<string, unknown>>) => ({
    SVC_TRUST_PROXY: '1',
    SVC_OUTBOUND_MAP: JSON.stringify(map),
  });
  const mapEnv = (txt: Readonly<Record<string, readonly string[]>> = {}) =>
    envOf({ [name]: host.url, ...txt });
  const baseUrl = (node = 0): string => api.processes[node]?.baseUrl ?? '';

  /** Registers the Principal. Before that its host publishes the document with one key, unless `publish` is false. */
  const register = async (publish = true): Promise<Hosted> => {
    const others = await createTenants(baseUrl());
    const key = await generatePrincipalKey();
    const { publicKeyMultibase } = key.registration;
    if (publish) host.pages.set(DID_DOCUMENT, didDocument(did, [{ publicKeyMultibase }]));
    const { json, status } = await contractCall(baseUrl(), 'POST', '/principals', {
      key: ADMIN_TOKEN,
      body: { kind: 'hosted', did },
    });
    expect(status).toBe(201);
    const principalKey = String(json.api_key);
    const signer = signerFromJwk(key.privateJwk, `${did}#key-1`);
    const principal = createPrincipalClient({ baseUrl: baseUrl(), apiKey: principalKey, signer });
    const { token } = json.verification as { token: string };
    return {
      ...others,
      principalDid: did,
      principalKey,
      principal,
      registered: json,
      token,
      publicKeyMultibase,
    };
  };

  const publishProof = ({ token }: Hosted) => host.pages.set(PROOF, { did, token });
  const verifyDomain = (key: string, node = 0) =>
    contractCall(baseUrl(node), 'POST', `/principals/${did}/verify`, { key });
  const stateAfterVerify = async (key: string, node = 0) => {
    const { status, json } = await verifyDomain(key, node);
    expect(status).toBe(200);
    return (json.verification as { state: string }).state;
  };
  const ask = async (tenants: Tenants, grant: HeldGrant, node = 0) =>
    receiptOf(
      await contractCall(baseUrl(node), 'POST', '/verify', {
        key: tenants.rpKey,
        body: await verifyBody(tenants, grant),
      }),
    );
  /** Resolves with `ALLOW` or the reason of the DENY. */
  const verdict = async (tenants: Tenants, grant: HeldGrant, node = 0) => {
    const { decision, reason } = await ask(tenants, grant, node);
    return reason ?? decision;
  };
  /** Starts a new node, which runs until the end of the test and has empty caches. */
  const restart = async (env = mapEnv()) => {
    if (api !== shared) await api.stop();
    api = await startApiNodes(1, database.url, env);
  };
  const age = (column: 'document_resolved_at' | 'last_proven_at', interval: string) =>
    sql.query(
      `update principals set ${column} = now() - $2::interval, version = version + 1 where did = $1`,
      [did, interval],
    );
  const storedDocument = async () => {
    const { rows } = await sql.query<{ body: string; resolved: Date }>(
      `select convert_from(e.body, 'UTF8') as body, p.document_resolved_at as resolved
       from principals p join evidence e on e.hash = p.document_hash where p.did = $1`,
      [did],
    );
    return rows[0];
  };
  const audited = async () => {
    const { rows } = await sql.query(
      `select actor_kind, details from audit_events where action = 'principal.verify' and target = $1 order by occurred_at, ctid`,
      [did],
    );
    return rows as { actor_kind: string; details: Record<string, unknown> }[];
  };
  return {
    get host() {
      return host;
    },
    get name() {
      return name;
    },
    get did() {
      return did;
    },
    get sql() {
      return sql;
    },
    ...{ withNodes, mapEnv, baseUrl, register, publishProof, verifyDomain, stateAfterVerify },
    ...{ ask, verdict, restart, age, storedDocument, audited },
  };
};
