/**
 * One Principal revokes, first alone, then beside orgs that revoke with all their keys as fast as they are answered.
 */
import { Agent, request } from 'node:http';
import type { Client } from 'pg';
import type { ApiNode } from '../harness/contestants.ts';
import { createOrg, createRevoker, nameOf, type Revoker } from './tenants.ts';

export interface RoundOptions {
  readonly round: number;
  readonly hostileOrgs: number;
  /** Number of revocations by the measured Principal. */
  readonly revocations: number;
}

export interface RoundOfRevocations {
  /** Milliseconds of each revocation of the one Principal, in order. */
  readonly latenciesMs: readonly number[];
  /** Number of its answers other than 200. */
  readonly refused: number;
  /** Number of the orgs' answers, by status. */
  readonly hostile: Readonly<Record<number, number>>;
  readonly hostilePerSecond: number;
}

const PRINCIPALS_OF_ORG = 3;
const KEYS_OF_PRINCIPAL = 20;
const GRANTS_OF_PRINCIPAL = 2_000;
const CONNECTIONS_OF_ORG = 24;
/** Milliseconds after which every queue is full. */
const LEAD_IN_MS = 500;

export async function measureRound(
  nodes: readonly ApiNode[],
  sql: Client,
  { round, hostileOrgs, revocations }: RoundOptions,
): Promise<RoundOfRevocations> {
  const [first] = nodes;
  if (first === undefined) throw new Error('there is no node');
  const name = (what: string) => nameOf(round, `${what}-${nodes.length}-${hostileOrgs}`);
  const hostile: Revoker[][] = [];
  for (let org = 0; org < hostileOrgs; org++) hostile.push(await createHostile(first, sql, name(`h${org}`)));
  const orgId = await createOrg(first, name('victim'));
  const own = await createRevoker(first, sql, name('victim'), { orgId, keys: 1, grants: revocations });

  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const statuses: Record<number, number> = {};
  let stopped = false;
  const loop = async (revokers: readonly Revoker[], at: number) => {
    for (let i = at; !stopped; i++) {
      const { keys = [], grants = [] } = revokers[i % revokers.length] ?? {};
      const node = nodes[i % nodes.length] ?? first;
      const status = await revoke(agent, node, keys[i % keys.length] ?? '', grants.pop() ?? NOBODYS);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const beganAt = performance.now();
  const loops = hostile.flatMap((revokers) =>
    Array.from({ length: CONNECTIONS_OF_ORG }, (_, at) => loop(revokers, at)),
  );
  await new Promise((resolve) => setTimeout(resolve, LEAD_IN_MS));
  const latenciesMs: number[] = [];
  let refused = 0;
  for (const [i, grant] of own.grants.entries()) {
    const sentAt = performance.now();
    const status = await revoke(agent, nodes[i % nodes.length] ?? first, own.keys[0] ?? '', grant);
    latenciesMs.push(performance.now() - sentAt);
    if (status !== 200) refused += 1;
  }
  stopped = true;
  await Promise.all(loops);
  agent.destroy();
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const hostilePerSecond = answered / ((performance.now() - beganAt) / 1000);
  return { latenciesMs, refused, hostile: statuses, hostilePerSecond };
}

const NOBODYS = `urn:svc:grant:${'0'.repeat(26)}`;

async function createHostile(node: ApiNode, sql: Client, name: string): Promise<Revoker[]> {
  const orgId = await createOrg(node, name);
  const of = { orgId, keys: KEYS_OF_PRINCIPAL, grants: GRANTS_OF_PRINCIPAL };
  const revokers = [];
  for (let i = 0; i < PRINCIPALS_OF_ORG; i++)
    revokers.push(await createRevoker(node, sql, `${name}-${i}`, of));
  return revokers;
}

/** Resolves with the status; 0 where the connection broke. */
const revoke = (agent: Agent, { origin }: ApiNode, key: string, grantId: string): Promise<number> =>
  new Promise((resolve) => {
    const body = JSON.stringify({ grant_id: grantId });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(`${origin}/revoke`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0));
    sent.end(body);
  });
