/**
 * The routes for issuing, revoking and verifying, as a `fetch`. Any other route is answered 501 with an explanation.
 */
import {
  type EvaluateInput,
  encodeUlid,
  evaluateJson,
  formatTimestamp,
  type JsonObject,
  portableCrypto,
  type Signer,
} from '@svc/protocol';
import { signReceipt } from '@svc/receipts';
import { findFacts, noteAllowed, type Registry } from './registry.ts';

/** The owner of an API key. */
export interface KeyHolder {
  readonly did: string;
  readonly role: 'principal' | 'rp';
}

export interface ServiceParts {
  readonly registry: Registry;
  readonly holders: ReadonlyMap<string, KeyHolder>;
  readonly signer: Signer;
  readonly did: string;
  readonly document: JsonObject;
  readonly now: () => number;
}

export function createServiceFetch(parts: ServiceParts): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const path = `${request.method} ${new URL(request.url).pathname}`;
    if (path === 'GET /.well-known/did.json') return Response.json(parts.document);
    const holder = parts.holders.get(request.headers.get('authorization')?.replace('Bearer ', '') ?? '');
    if (holder === undefined) return failure(401, 'UNAUTHORIZED', 'no such API key');
    if (path === 'GET /me') return Response.json(describe(parts, holder));
    const route = ROUTES[`${path} ${holder.role}`];
    if (route === undefined)
      return failure(501, 'NOT_IMPLEMENTED', `the service in memory has no ${path} for role ${holder.role}`);
    const text = await request.text();
    const body = readBody(text);
    if (body === null) return failure(400, 'INVALID_REQUEST', 'the body must be a JSON object');
    return route(parts, holder, { body, text, idempotencyKey: request.headers.get('idempotency-key') });
  };
}

type Body = Readonly<Record<string, string>>;

interface Posted {
  readonly body: Body;
  /** The body as received. */
  readonly text: string;
  readonly idempotencyKey: string | null;
}

type Route = (parts: ServiceParts, holder: KeyHolder, posted: Posted) => Response | Promise<Response>;

/** By method, path and role. */
const ROUTES: Readonly<Record<string, Route>> = {
  'POST /verify rp': async (parts, holder, { body, text, idempotencyKey }) =>
    idempotencyKey === null
      ? answerOf(await verify(parts, holder, body))
      : verifyOnce(parts, holder, idempotencyKey, { body, text }),
  'POST /grants principal': (parts, holder, { body }) => allocate(parts, holder, body),
  'POST /revoke principal': (parts, holder, { body }) => revoke(parts, holder, body),
};

/** Null if it is not a JSON object. */
function readBody(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : null;
  } catch {
    return null;
  }
}

const failure = (status: number, error: string, message: string): Response =>
  Response.json({ error, message }, { status });

const describe = ({ did }: ServiceParts, holder: KeyHolder) => ({
  subject: holder.did,
  role: holder.role,
  key_id: '000000000000',
  service_did: did,
  env: 'development',
});

const newUlid = (nowMs: number): string => encodeUlid(nowMs, crypto.getRandomValues(new Uint8Array(10)));

function allocate({ registry, now }: ServiceParts, { did }: KeyHolder, { agent = '' }: Body): Response {
  const statusListIndex = String(registry.grants.size);
  const statusListCredential = 'https://status.svc.example/test/1';
  const allocated = {
    id: `urn:svc:grant:${newUlid(now())}`,
    issuer: did,
    agent,
    credentialStatus: {
      id: `${statusListCredential}#${statusListIndex}`,
      type: 'BitstringStatusListEntry',
      statusPurpose: 'revocation',
      statusListIndex,
      statusListCredential,
    },
    allocated_at: formatTimestamp(now()),
  };
  registry.grants.set(allocated.id, allocated);
  return Response.json(allocated, { status: 201 });
}

function revoke({ registry, now }: ServiceParts, { did }: KeyHolder, { grant_id = '' }: Body): Response {
  if (registry.grants.get(grant_id)?.issuer !== did) return failure(404, 'NOT_FOUND', 'no such Grant');
  const revokedAt = registry.revoked.get(grant_id) ?? formatTimestamp(now());
  registry.revoked.set(grant_id, revokedAt);
  return Response.json({ grant_id, revoked: true, revoked_at: revokedAt });
}

/** How long an answer is repeated for its `Idempotency-Key` (protocol §7). */
const REPEATED_FOR_MS = 600_000;

/** Repeats the first answer under this key while it is kept; answers 409 for another body. */
async function verifyOnce(
  parts: ServiceParts,
  holder: KeyHolder,
  key: string,
  { body, text }: Pick<Posted, 'body' | 'text'>,
): Promise<Response> {
  const { answers } = parts.registry;
  const name = `${holder.did} ${key}`;
  const nowMs = parts.now();
  const stored = answers.get(name);
  if (stored !== undefined && nowMs - stored.atMs < REPEATED_FOR_MS) {
    if (stored.body === text) return answerOf(await stored.receipt, { 'svc-idempotent-replay': 'true' });
    return failure(
      409,
      'CONFLICT',
      'Idempotency-Key: this key was used with another body in the last 10 minutes; use a fresh one.',
    );
  }
  const receipt = verify(parts, holder, body);
  answers.set(name, { body: text, receipt, atMs: nowMs });
  return answerOf(await receipt);
}

const answerOf = (receipt: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(receipt, { headers: { 'content-type': 'application/json', ...headers } });

async function verify(
  { registry, signer, now }: ServiceParts,
  { did }: KeyHolder,
  { grant = '', proof = '', action }: Body,
): Promise<string> {
  const input: EvaluateInput = {
    receipt_id: `drc_${newUlid(now())}`,
    now: formatTimestamp(now()),
    relying_party: { did, profile: 'svc-base-v1', proof_window_seconds: 60 },
    grant,
    proof,
    action,
    facts: findFacts(registry, grant, proof, now()),
  };
  const decided = evaluateJson(input, portableCrypto);
  if (decided.decision === 'ALLOW') noteAllowed(registry, grant, proof);
  return (await signReceipt(decided, signer)).text;
}
