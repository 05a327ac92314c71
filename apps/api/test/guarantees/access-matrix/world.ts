/**
 * Two orgs and, for each relation of a subject to a caller, one set of everything that a request can name. The callers
 * of the matrix are the Principal and the relying party of `own`, and keys of its org.
 */
import { randomBytes } from 'node:crypto';
import { encodeUlid } from '@svc/protocol';
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { contractFetch } from '../../world/contract-call.ts';
import { type Deployment, newOrgId, randomSlug } from '../../world/deployment.ts';
import { ACTION, issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

/** `org`: another member of the caller's org. `absent`: well formed, but nobody's. */
export const WHOSE = ['own', 'org', 'foreign', 'absent'] as const;
export type Whose = (typeof WHOSE)[number];

/**
 * What requests name. Ids of one kind have the same length, so that answers can be compared after the ids are removed.
 */
export interface Subject {
  readonly orgId: string;
  readonly principal: string;
  readonly principalSlug: string;
  readonly relyingParty: string;
  readonly agent: string;
  readonly kid: string;
  readonly grantId: string;
  readonly receiptId: string;
  readonly statusListPath: string;
  readonly evidenceHash: string;
  /** Live keys that no caller uses, so that they may be revoked. */
  readonly principalKeyId: string;
  readonly relyingPartyKeyId: string;
  readonly orgKeyId: string;
  readonly observerKeyId: string;
  /** A run of the operator's that has ended. */
  readonly conformanceRunId: string;
  /** Requests of the relying party to the Principal, by their outcome. */
  readonly accessRequests: Readonly<Record<ApprovalKind, string>>;
}

const APPROVAL_KINDS = ['pending', 'denied', 'cancelled'] as const;
type ApprovalKind = (typeof APPROVAL_KINDS)[number];
const newRequestId = () => `arq_${encodeUlid(Date.now(), randomBytes(10))}`;
const newAccessRequests = (): Subject['accessRequests'] => ({
  pending: newRequestId(),
  denied: newRequestId(),
  cancelled: newRequestId(),
});

export type World = Readonly<Record<Whose, Subject>>;

export const buildWorld = async (deployment: Deployment): Promise<World> => {
  const [orgId, foreignOrgId] = [await createOrg(deployment), await createOrg(deployment)];
  return {
    own: await buildSubject(deployment, orgId),
    org: await buildSubject(deployment, orgId),
    foreign: await buildSubject(deployment, foreignOrgId),
    absent: await absentSubject(),
  };
};

const post = async ({ call }: Deployment, path: string, body: object): Promise<Record<string, unknown>> => {
  const { status, text, json } = await call('POST', path, { key: ADMIN_TOKEN, body });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
};

const createOrg = async (deployment: Deployment): Promise<string> =>
  String((await post(deployment, '/orgs', { slug: randomSlug('org'), name: 'An org' })).org_id);

const buildSubject = async (deployment: Deployment, orgId: string): Promise<Subject> => {
  const [principalSlug, key, spare] = [
    randomSlug('p'),
    await generatePrincipalKey(),
    await generatePrincipalKey(),
  ];
  const principal = await post(deployment, '/principals', {
    kind: 'managed',
    slug: principalSlug,
    keys: [key.registration, spare.registration],
    org_id: orgId,
  });
  const rp = await post(deployment, '/relying-parties', {
    kind: 'managed',
    slug: randomSlug('r'),
    org_id: orgId,
  });
  const principalDid = String(principal.did);
  const tenants: Tenants = {
    principalDid,
    principalKey: String(principal.api_key),
    principal: createPrincipalClient({
      baseUrl: deployment.process.baseUrl,
      apiKey: String(principal.api_key),
      signer: signerFromJwk(key.privateJwk, `${principalDid}#key-1`),
      fetch: contractFetch,
    }),
    agent: agentFromJwk((await generateAgentKey()).privateJwk),
    rpDid: String(rp.did),
    rpKey: String(rp.api_key),
  };
  const decided = await decide(deployment, tenants);
  return {
    orgId,
    principal: principalDid,
    principalSlug,
    relyingParty: tenants.rpDid,
    agent: tenants.agent.did,
    kid: `${principalDid}#key-2`,
    principalKeyId: String(principal.api_key_id),
    relyingPartyKeyId: String(rp.api_key_id),
    orgKeyId: String((await post(deployment, `/orgs/${orgId}/api-keys`, { role: 'read' })).key_id),
    observerKeyId: String((await post(deployment, '/observer-keys', {})).key_id),
    conformanceRunId: await insertConformanceRun(deployment),
    ...decided,
    accessRequests: await insertAccessRequests(deployment, tenants, decided.grantId),
  };
};

const decide = async (deployment: Deployment, tenants: Tenants) => {
  const grant = await issueGrant(tenants);
  const body = await verifyBody(tenants, grant);
  const receipt = receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
  return {
    grantId: grant.grantId,
    receiptId: receipt.receipt_id,
    statusListPath: new URL(receipt.evidence.status?.credential_url ?? '').pathname,
    evidenceHash: receipt.evidence.issuer_resolution?.did_document_hash ?? '',
  };
};

const insertConformanceRun = async ({ sql }: Deployment): Promise<string> => {
  const id = `cfr_${encodeUlid(Date.now(), randomBytes(10))}`;
  await sql.query(
    `insert into conformance_runs
       (run_id, account, key_id, endpoint, status, finished_at, vectors_sha256, conformance_version, error)
     values ($1, 'admin', 'none', 'https://engine.example/', 'error', now(), $2, '1.0.0', 'no answer')`,
    [id, `sha256:${'0'.repeat(64)}`],
  );
  return id;
};

const insertAccessRequests = async (
  { sql }: Deployment,
  { rpDid, principalDid, agent }: Tenants,
  grantId: string,
): Promise<Subject['accessRequests']> => {
  const ids = newAccessRequests();
  for (const state of APPROVAL_KINDS)
    await sql.query(
      `insert into approval_requests (request_id, relying_party, principal, grant_id, agent, action, action_hash, state,
         requested_at, expires_at, decided_at)
       values ($1, $2, $3, $4, $5, $6, $7, $7, now(), now() + interval '12 hours', case when $7 != 'pending' then now() end)`,
      [ids[state], rpDid, principalDid, grantId, agent.did, JSON.stringify(ACTION), state],
    );
  return ids;
};

const absentSubject = async (): Promise<Subject> => {
  const ulid = () => encodeUlid(Date.now(), randomBytes(10));
  const keyId = () => randomBytes(6).toString('hex');
  const principalSlug = randomSlug('p');
  const principal = `did:web:${DOMAIN}:org:${principalSlug}`;
  return {
    orgId: newOrgId(),
    principal,
    principalSlug,
    relyingParty: `did:web:${DOMAIN}:rp:${randomSlug('r')}`,
    agent: (await generateAgentKey()).did,
    kid: `${principal}#key-2`,
    grantId: `urn:svc:grant:${ulid()}`,
    receiptId: `drc_${ulid()}`,
    statusListPath: `/status-lists/${DOMAIN}/9`,
    evidenceHash: `sha256:${randomBytes(32).toString('hex')}`,
    principalKeyId: keyId(),
    relyingPartyKeyId: keyId(),
    orgKeyId: keyId(),
    observerKeyId: keyId(),
    conformanceRunId: `cfr_${ulid()}`,
    accessRequests: newAccessRequests(),
  };
};

/** A text with every id of the subject replaced by the name of its kind. */
export const withoutIds = (text: string, subject: Subject): string =>
  (Object.entries({ ...subject, ...subject.accessRequests }) as [string, unknown][])
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .toSorted(([, a], [, b]) => b.length - a.length)
    .reduce((rest, [kind, id]) => rest.replaceAll(id, `<${kind}>`), text);
