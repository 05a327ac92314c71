/** Tenants of the benchmark, with Grants that can be revoked. SQL writes the rows as allocations leave them. */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { decodeBase64url, encodeMultikey, encodeUlid, formatDidKey } from '@svc/protocol';
import type { Client } from 'pg';
import type { ApiNode } from '../harness/contestants.ts';

export interface Revoker {
  readonly did: string;
  /** As many keys as a subject may have. */
  readonly keys: readonly string[];
  readonly grants: string[];
}

export async function createOrg({ origin, adminToken }: ApiNode, slug: string): Promise<string> {
  const created = await post(`${origin}/orgs`, adminToken, { slug, name: slug });
  return String(created.org_id);
}

export async function createRevoker(
  { origin, adminToken }: ApiNode,
  sql: Client,
  slug: string,
  { orgId, keys, grants }: { orgId: string; keys: number; grants: number },
): Promise<Revoker> {
  const created = await post(`${origin}/principals`, adminToken, {
    kind: 'managed',
    slug,
    keys: [{ publicKeyMultibase: encodeMultikey(newPublicKey()) }],
    org_id: orgId,
  });
  const did = String(created.did);
  const own = [String(created.api_key)];
  while (own.length < keys) own.push(String((await post(`${origin}/api-keys`, String(own[0]), {})).api_key));
  return { did, keys: own, grants: await storeGrants(sql, did, grants) };
}

async function storeGrants(sql: Client, principal: string, count: number): Promise<string[]> {
  const agent = formatDidKey(newPublicKey());
  const ids = Array.from({ length: count }, () => `urn:svc:grant:${encodeUlid(Date.now(), randomBytes(10))}`);
  await sql.query(
    `insert into grants (id, principal, agent, status_list_url, status_index)
     select n.id, $1, $2, l.url, n.ordinal
     from status_lists l, unnest($3::text[]) with ordinality as n (id, ordinal) where l.principal = $1`,
    [principal, agent, ids],
  );
  await sql.query('update status_lists set next_ordinal = size_bits where principal = $1', [principal]);
  return ids;
}

async function post(url: string, key: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

function newPublicKey(): Uint8Array {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const bytes = decodeBase64url(x);
  if (bytes === null) throw new Error('an exported key is canonical base64url');
  return bytes;
}

/** Names that are free in every run. */
export const nameOf = (run: number, what: string): string =>
  `${what}-${createHash('sha256').update(`${run} ${what}`).digest('hex').slice(0, 8)}`;
