/**
 * Receipts to copy: the service signed real ones for real requests, and the members that differ between Receipts are
 * replaced by places. The stored rows thus have the size, the form and the members of real ones. The signatures are
 * noise.
 */
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { makeWorld, type World } from '../fixtures/world.ts';
import type { ApiNode } from '../harness/contestants.ts';

/** The members that differ between Receipts, in the order of the parameters of `format` in PostgreSQL. */
export const PLACES = [
  'receipt_id',
  'evaluated_at',
  'expires_at',
  'relying_party',
  'principal',
  'grant_id',
  'agent',
  'grant_hash',
  'proof_hash',
  'request_hash',
  'reason',
] as const;
type Place = (typeof PLACES)[number];

export interface ReceiptTemplate {
  /** The encoded protected header. */
  readonly header: string;
  /** The payload, as the first parameter of `format`. */
  readonly payload: string;
}

export interface ReceiptTemplates {
  readonly allow: ReceiptTemplate;
  /** Denial of a request about an authenticated Grant. */
  readonly deny: ReceiptTemplate;
  /** Denial of a request that could not be read. */
  readonly malformed: ReceiptTemplate;
}

/** `isShort` omits bulky members such as the list of passed checks, and nothing else. */
export async function takeTemplates(node: ApiNode, isShort: boolean): Promise<ReceiptTemplates> {
  const world = await makeWorld({ baseUrl: node.origin, adminToken: node.adminToken }, 1, 'template');
  const [body] = new VerifyRequests(world).sign(1);
  if (body === undefined) throw new Error('no request to send');
  const take = async (request: Buffer | string) => templateOf(await decide(node, world, request), isShort);
  return {
    allow: await take(body),
    deny: await take(body),
    malformed: await take(JSON.stringify({ ...JSON.parse(body.toString()), grant: 'a.b.c' })),
  };
}

/** Returns the JWS of the Receipt. */
async function decide(node: ApiNode, { relyingParty }: World, body: Buffer | string): Promise<string> {
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${relyingParty.apiKey}` },
    body: body.toString(),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`POST /verify: ${response.status} ${text}`);
  return (JSON.parse(text) as { receipt: string }).receipt;
}

/**
 * Texts whose encoding uses neither of the two characters in which base64 and base64url differ, so that PostgreSQL
 * encodes a payload in one pass. That holds for ASCII without `>`, `?` and `~`.
 */
const ENCODES_ALIKE = /^[ -=@-}]*$/;

function templateOf(jws: string, isShort: boolean): ReceiptTemplate {
  const [header = '', encoded = ''] = jws.split('.');
  const whole = Buffer.from(encoded, 'base64url').toString();
  let payload = isShort ? JSON.stringify(JSON.parse(whole), withoutBulk) : whole;
  if (!ENCODES_ALIKE.test(payload)) throw new Error(`a payload does not encode alike: ${payload}`);
  const body = JSON.parse(payload) as Partial<Record<Place, string | null>> & {
    principal?: { id?: string } | null;
  };
  payload = payload.replaceAll('%', '%%');
  for (const [index, place] of PLACES.entries()) {
    const value = place === 'principal' ? body.principal?.id : body[place];
    if (typeof value === 'string')
      payload = payload.replaceAll(value.replaceAll('%', '%%'), `%${index + 1}$s`);
  }
  return { header, payload };
}

const withoutBulk = (name: string, value: unknown): unknown =>
  name === 'checks' || name === 'trust_config_hash' ? undefined : value;
