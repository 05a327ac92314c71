/** The routes that issuing, revoking and verifying need, as a `fetch`. Any other is answered 501, and says so. */
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
import { findFacts, type Registry, spendKeyOf } from './registry.ts';

/** Whose API key it is. */
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
    const text = request.method === 'GET' ? '{}' : await request.text();
    const body = JSON.parse(text) as Record<string, string>;
    if (path === 'GET /me') return Response.json(describe(parts, holder));
    if (path === 'POST /verify' && holder.role === 'rp') {
      const key = request.headers.get('idempotency-key');
      return key === null
        ? answerOf(await verify(parts, holder, body))
        : verifyOnce(parts, holder, key, text);
    }
    if (path === 'POST /grants' && holder.role === 'principal') return allocate(parts, holder, body);
    if (path === 'POST /revoke' && holder.role === 'principal') return revoke(parts, holder, body);
    return failure(501, 'NOT_IMPLEMENTED', `the service in memory has no ${path} for role ${holder.role}`);
  };
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

function allocate(
  { registry, now }: ServiceParts,
  { did }: KeyHolder,
  { agent = '' }: Record<string, string>,
): Response {
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

function revoke(
  { registry, now }: ServiceParts,
  { did }: KeyHolder,
  { grant_id = '' }: Record<string, string>,
): Response {
  if (registry.grants.get(grant_id)?.issuer !== did) return failure(404, 'NOT_FOUND', 'no such Grant');
  const revokedAt = registry.revoked.get(grant_id) ?? formatTimestamp(now());
  registry.revoked.set(grant_id, revokedAt);
  return Response.json({ grant_id, revoked: true, revoked_at: revokedAt });
}

/** How long an answer is repeated under its `Idempotency-Key` (protocol §7). */
const REPEATED_FOR_MS = 600_000;

/** The first answer under this key, again for as long as it is kept; 409 for another body. */
async function verifyOnce(
  parts: ServiceParts,
  holder: KeyHolder,
  key: string,
  body: string,
): Promise<Response> {
  const { answers } = parts.registry;
  const name = `${holder.did} ${key}`;
  const nowMs = parts.now();
  const stored = answers.get(name);
  if (stored !== undefined && nowMs - stored.atMs < REPEATED_FOR_MS) {
    if (stored.body === body) return answerOf(await stored.receipt, { 'svc-idempotent-replay': 'true' });
    return failure(
      409,
      'CONFLICT',
      'Idempotency-Key: this key was used with another body in the last 10 minutes; use a fresh one.',
    );
  }
  const receipt = verify(parts, holder, JSON.parse(body));
  answers.set(name, { body, receipt, atMs: nowMs });
  return answerOf(await receipt);
}

const answerOf = (receipt: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(receipt, { headers: { 'content-type': 'application/json', ...headers } });

async function verify(
  { registry, signer, now }: ServiceParts,
  { did }: KeyHolder,
  { grant = '', proof = '', action }: Record<string, string>,
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
  if (decided.decision === 'ALLOW') registry.spent.add(spendKeyOf(proof));
  return (await signReceipt(decided, signer)).text;
}
