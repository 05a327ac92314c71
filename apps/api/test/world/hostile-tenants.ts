/**
 * Orgs that send everything they may, and more, concurrently and with every key: above all revocations of their own
 * Grants, and also kill switches, compromises, allocations, lists and verifications. Other tenants must not notice it.
 */
import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, request } from 'node:http';
import { encodeUlid } from '@svc/protocol';
import { sampled } from '@svc/testkit/sampled';
import type { Client } from 'pg';
import type { Deployment } from './deployment.ts';
import type { Tenants } from './tenants.ts';

const PRINCIPALS_OF_ORG = 2;
/** The most keys that a Principal may have. */
const KEYS_OF_PRINCIPAL = 20;
/** More than the limits let them revoke while a test runs. */
const GRANTS_OF_PRINCIPAL = sampled({ quick: 300, deep: 1_500 });
const CONNECTIONS_OF_ORG = 16;

export interface HostileTenants {
  /** Starts the loops; each sends its next request when the last is answered. Resolves once every org has an answer. */
  start(): Promise<void>;
  /** Stops, and resolves with the number of answers by status; 0 means that the connection broke. */
  stop(): Promise<Readonly<Record<number, number>>>;
}

interface Attacker {
  readonly tenants: Tenants;
  readonly keys: readonly string[];
  readonly grants: string[];
}

export const createHostileTenants = async (deployment: Deployment, orgs: number): Promise<HostileTenants> => {
  const attackersByOrg: (readonly Attacker[])[] = [];
  for (let i = 0; i < orgs; i++) attackersByOrg.push(await createAttackers(deployment));
  const connections = new HttpAgent({ keepAlive: true });
  const statuses: Record<number, number> = {};
  let stopped = false;
  const loop = async (attackers: readonly Attacker[], at: number, noteAnswer: () => void) => {
    for (let i = at; !stopped; i++) {
      const attacker = attackers[i % attackers.length];
      const { baseUrl } = deployment.processes[i % deployment.processes.length] ?? deployment.process;
      if (attacker === undefined) continue;
      const status = await attack(connections, baseUrl, attacker, i);
      statuses[status] = (statuses[status] ?? 0) + 1;
      noteAnswer();
    }
  };
  let loops: Promise<unknown> = Promise.resolve();
  return {
    async start() {
      const all: Promise<void>[] = [];
      const firstAnswers = attackersByOrg.map(
        (attackers) =>
          new Promise<void>((noteAnswer) => {
            for (let at = 0; at < CONNECTIONS_OF_ORG; at++) all.push(loop(attackers, at, noteAnswer));
          }),
      );
      loops = Promise.all(all);
      await Promise.race([Promise.all(firstAnswers), loops]);
    },
    async stop() {
      stopped = true;
      await loops;
      connections.destroy();
      return statuses;
    },
  };
};

const createAttackers = async (deployment: Deployment): Promise<readonly Attacker[]> => {
  const orgId = await deployment.createOrg();
  const attackers: Attacker[] = [];
  for (let i = 0; i < PRINCIPALS_OF_ORG; i++) {
    const tenants = await deployment.createTenants({ orgId });
    const keys = [tenants.principalKey];
    while (keys.length < KEYS_OF_PRINCIPAL)
      keys.push(await deployment.createKey('principal', tenants.principalDid));
    attackers.push({ tenants, keys, grants: await storeGrants(deployment.sql, tenants) });
  }
  return attackers;
};

/** Inserts rows by SQL as allocations leave them; later allocations begin a status list of their own. */
const storeGrants = async (sql: Client, { principalDid, agent }: Tenants): Promise<string[]> => {
  const ids = Array.from(
    { length: GRANTS_OF_PRINCIPAL },
    () => `urn:svc:grant:${encodeUlid(Date.now(), randomBytes(10))}`,
  );
  await sql.query(
    `insert into grants (id, principal, agent, status_list_url, status_index)
     select n.id, $1, $2, l.url, n.ordinal
     from status_lists l, unnest($3::text[]) with ordinality as n (id, ordinal) where l.principal = $1`,
    [principalDid, agent.did, ids],
  );
  await sql.query('update status_lists set next_ordinal = size_bits where principal = $1', [principalDid]);
  return ids;
};

const DENIED = { grant: '', proof: '', action: {} };
const NOBODYS = `urn:svc:grant:${'0'.repeat(26)}`;

const attack = (
  connections: HttpAgent,
  baseUrl: string,
  { tenants, keys, grants }: Attacker,
  i: number,
): Promise<number> => {
  const key = keys[i % keys.length] ?? '';
  const post = (path: string, body: object | null, by = key) =>
    send(connections, 'POST', baseUrl + path, by, body);
  switch (i % 16) {
    case 3:
      return post('/grants', { agent: tenants.agent.did });
    case 6:
      return post(`/keys/${encodeURIComponent(`${tenants.principalDid}#key-1`)}/compromise`, null);
    case 9:
      return send(connections, 'GET', `${baseUrl}/grants?limit=200`, key, null);
    case 12:
      return post('/verify', DENIED, tenants.rpKey);
    case 15:
      // The kill switch is used only after a good part of the Grants has been revoked one by one.
      if (grants.length < GRANTS_OF_PRINCIPAL * 0.8)
        return post(`/agents/${encodeURIComponent(tenants.agent.did)}/disable`, null);
  }
  return revoke(connections, baseUrl, key, grants.pop() ?? NOBODYS);
};

const revoke = (connections: HttpAgent, baseUrl: string, key: string, grantId: string): Promise<number> =>
  send(connections, 'POST', `${baseUrl}/revoke`, key, { grant_id: grantId });

/** Sends on connections of its own, so that no other caller waits for one. Resolves with the status. */
const send = (
  agent: HttpAgent,
  method: string,
  url: string,
  key: string,
  body: object | null,
): Promise<number> =>
  new Promise((resolve) => {
    const text = body === null ? '' : JSON.stringify(body);
    const headers = { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(text) };
    const sent = request(url, { method, agent, headers }, (response) => {
      response.resume();
      response.once('error', () => resolve(0));
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0));
    sent.end(text);
  });
