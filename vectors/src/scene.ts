/**
 * A scene is everything around one evaluation, by default an honest purchase that is allowed. A vector edits what it is
 * about. Whatever depends on the edit (the signed Proof, its Grant id, the DID document's text) is derived from it,
 * unless the vector overrides that too.
 */
import {
  type EvaluateInput,
  encodeBase64url,
  encodeUlid,
  encodeUtf8,
  type JsonObject,
  jcs,
  portableCrypto,
} from '@svc/protocol';
import { STATUS_LISTS } from './status-lists.ts';
import { KEYS, PRINCIPAL_DID, PRINCIPAL_KID, RP_DID, type TestKey } from './test-keys.ts';

export type Members = Record<string, unknown>;

export interface TokenDraft {
  key: TestKey;
  /** Members that replace those of the honest header or payload; `undefined` removes one. */
  header: Members;
  payload: Members;
  /** Changes the JSON text before it is encoded, or the token after it is signed. */
  editHeader: (json: string) => string;
  editPayload: (json: string) => string | Uint8Array;
  editToken: (token: string) => string;
}

export interface GrantDraft extends TokenDraft {
  status: Members;
  subject: Members;
}

export type FactName = keyof EvaluateInput['facts'];

export interface Scene {
  now: string;
  rp: { did: string; profile: string; proof_window_seconds: number };
  grant: GrantDraft;
  proof: TokenDraft;
  /** What the Agent signs, and what the relying party describes unless `presentedAction` is set. */
  action: Members;
  presentedAction: unknown;
  principal: { verification: string; key: { state: string; since: string } | null };
  document: Members;
  editDocument: (json: string) => string;
  resolvedAt: string;
  allocation: Members;
  status: Members;
  /** Undefined: the input has no balances, because a case without a budget needs none. */
  balances: Members | undefined;
  spent: boolean;
  /** Answers that replace what was found. */
  answers: Partial<Record<FactName, 'absent' | 'unavailable'>>;
}

export const NOW = '2026-11-20T10:00:00.000Z';
export const ALLOCATED_AT = '2026-11-20T07:59:58.000Z';
export const STATUS_INDEX = '94567';
export const JTI = 'dGhlIG5vbmNlIG9mIGEgdGVzdA';

export const GRANT_ID = `urn:svc:grant:${encodeUlid(Date.parse(ALLOCATED_AT), new Uint8Array(10).fill(0x5a))}`;
export const PURCHASE: Members = {
  type: 'commerce:purchase',
  resource: 'order/1001',
  amount: 42700,
  currency: 'USD',
};
export const API_CALL: Members = {
  type: 'api:call',
  method: 'POST',
  resource: 'https://api.shop.example/v1/orders',
};

export const purchaseCapability = (constraints: Members = {}, more: Members = {}): Members => ({
  action: 'commerce:purchase',
  constraints: { maxAmount: 50000, currency: 'USD', ...constraints },
  resources: ['order/**'],
  ...more,
});

export const apiCapability = (constraints: Members = {}, more: Members = {}): Members => ({
  action: 'api:call',
  constraints: { methods: ['GET', 'POST'], ...constraints },
  resources: ['https://api.shop.example/v1/**'],
  ...more,
});

export const statusEntry = (url: string, index: string): Members => ({
  id: `${url}#${index}`,
  type: 'BitstringStatusListEntry',
  statusPurpose: 'revocation',
  statusListIndex: index,
  statusListCredential: url,
});

export const verificationMethod = (key: TestKey, more: Members = {}): Members => ({
  id: PRINCIPAL_KID,
  type: 'Multikey',
  controller: PRINCIPAL_DID,
  publicKeyMultibase: key.multikey,
  ...more,
});

const unchanged = <T>(value: T): T => value;

const token = (key: TestKey): TokenDraft => ({
  key,
  header: {},
  payload: {},
  editHeader: unchanged,
  editPayload: unchanged,
  editToken: unchanged,
});

export const honestScene = (): Scene => ({
  now: NOW,
  rp: { did: RP_DID, profile: 'svc-base-v1', proof_window_seconds: 60 },
  grant: {
    ...token(KEYS.principal),
    payload: { validFrom: '2026-11-20T08:00:00Z', validUntil: '2026-12-20T08:00:00Z' },
    status: statusEntry(STATUS_LISTS.current.url, STATUS_INDEX),
    subject: { audience: [RP_DID], capabilities: [purchaseCapability()] },
  },
  proof: token(KEYS.agent),
  action: { ...PURCHASE },
  presentedAction: undefined,
  principal: { verification: 'verified', key: { state: 'active', since: '2026-10-01T00:00:00.000Z' } },
  document: {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: PRINCIPAL_DID,
    verificationMethod: [verificationMethod(KEYS.principal)],
    assertionMethod: [PRINCIPAL_KID],
  },
  editDocument: unchanged,
  resolvedAt: '2026-11-20T09:58:00.000Z',
  allocation: {
    issuer: PRINCIPAL_DID,
    agent: KEYS.agent.didKey,
    status_list_credential: STATUS_LISTS.current.url,
    status_list_index: STATUS_INDEX,
    allocated_at: ALLOCATED_AT,
  },
  status: {
    revoked: false,
    credential_hash: STATUS_LISTS.current.hash,
    valid_from: STATUS_LISTS.current.validFrom,
    checked_at: '2026-11-20T09:59:50.000Z',
  },
  balances: undefined,
  spent: false,
  answers: {},
});

/** The conversion to JSON and back drops every undefined member, at any depth. */
const canonical = (members: Members): string => jcs(JSON.parse(JSON.stringify(members)) as JsonObject);

const part = (data: string | Uint8Array): string =>
  encodeBase64url(typeof data === 'string' ? encodeUtf8(data) : data);

const signToken = (draft: TokenDraft, header: Members, payload: Members): string => {
  const headerText = draft.editHeader(canonical({ ...header, ...draft.header }));
  const payloadData = draft.editPayload(canonical({ ...payload, ...draft.payload }));
  const signingInput = `${part(headerText)}.${part(payloadData)}`;
  const signature = draft.key.sign(encodeUtf8(signingInput));
  return draft.editToken(`${signingInput}.${encodeBase64url(signature)}`);
};

export const grantToken = ({ grant }: Scene): string =>
  signToken(
    grant,
    { alg: 'EdDSA', typ: 'vc+jwt', kid: PRINCIPAL_KID },
    {
      '@context': [
        'https://www.w3.org/ns/credentials/v2',
        'https://www.w3.org/ns/credentials/undefined-terms/v2',
      ],
      id: GRANT_ID,
      type: ['VerifiableCredential', 'SvcGrant'],
      issuer: PRINCIPAL_DID,
      credentialStatus: grant.status,
      credentialSubject: { id: KEYS.agent.didKey, ...grant.subject },
    },
  );

export const proofToken = ({ proof, grant, rp, now, action }: Scene): string => {
  const isApiCall = action.type === 'api:call';
  return signToken(
    proof,
    { alg: 'EdDSA', typ: 'svc-proof+jwt', kid: `${proof.key.didKey}#${proof.key.multikey}` },
    {
      iss: proof.key.didKey,
      aud: rp.did,
      grant_id: grant.payload.id ?? GRANT_ID,
      htm: isApiCall ? action.method : 'POST',
      htu: isApiCall ? action.resource : 'https://shop.example/checkout',
      action,
      iat: Math.floor(Date.parse(now) / 1000) - 2,
      jti: JTI,
    },
  );
};

/** The Receipt id is derived from the vector's id and its instant. */
export const receiptIdOf = (id: string, now: string): string => {
  const digest = Buffer.from(portableCrypto.sha256Hex(`receipt of vector ${id}`), 'hex');
  return `drc_${encodeUlid(Date.parse(now), digest.subarray(0, 10))}`;
};

/**
 * The evaluation's input. Facts are taken from the scene unchecked, so a vector may contain what the types of
 * `EvaluateInput` forbid.
 */
export const inputOf = (id: string, scene: Scene): EvaluateInput => {
  const { answers } = scene;
  const found = {
    principal: scene.principal,
    document: { document: scene.editDocument(canonical(scene.document)), resolved_at: scene.resolvedAt },
    allocation: scene.allocation,
    status: scene.status,
    ...(scene.balances === undefined ? {} : { balances: scene.balances }),
    spent: scene.spent,
  };
  const facts = Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, answers[name as FactName] ?? { found: value }]),
  );
  return {
    receipt_id: receiptIdOf(id, scene.now),
    now: scene.now,
    relying_party: scene.rp,
    grant: grantToken(scene),
    proof: proofToken(scene),
    action: scene.presentedAction === undefined ? scene.action : scene.presentedAction,
    facts: facts as unknown as EvaluateInput['facts'],
  };
};
