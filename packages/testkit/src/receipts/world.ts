/**
 * A small world with everything that a verification uses: service, Principal, Agent and relying party with keys from
 * fixed seeds, a Grant, a Proof, DID documents and a signed status list. Only the network is missing.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  type Action,
  type EvaluateInput,
  encodeMultikey,
  encodeUlid,
  evaluateJson,
  formatDidKey,
  formatTimestamp,
  type JsonObject,
  jcs,
  type ProfileId,
  portableCrypto,
  type ReceiptBody,
  type Signer,
  sha256Of,
  signCompactJws,
} from '@svc/protocol';
import { privateKeyOfSeed } from '@svc/protocol/native';
import { type SignedReceipt, signReceipt } from '@svc/receipts';
import { buildStatusListCredential, createBitstring, encodeBitstring, setBit } from '@svc/status-list';

const privateKeyOf = (seed: number): KeyObject => privateKeyOfSeed(Buffer.alloc(32, seed));

export const publicKeyOf = (seed: number): Uint8Array =>
  new Uint8Array(
    Buffer.from(createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' }).x ?? '', 'base64url'),
  );

export const signerOf = (seed: number, kid: string): Signer => {
  const key = privateKeyOf(seed);
  return { kid, sign: (bytes) => new Uint8Array(sign(null, bytes, key)) };
};

export const SERVICE = 'did:web:svc.example';
export const PRINCIPAL = 'did:web:acme.example';
export const SHOP = 'did:web:shop.example';
const SEEDS = { receipt: 1, status: 2, principal: 3, agent: 4, otherAgent: 5, oldReceipt: 6 };
export const AGENT = formatDidKey(publicKeyOf(SEEDS.agent));

export const NOW_MS = Date.parse('2026-11-20T08:00:00.123Z');
export const LIST_URL = 'https://status.svc.example/acme.example/1';
const INDEX = 94_567;

const methodOf = (did: string, fragment: string, seed: number) => ({
  id: `${did}#${fragment}`,
  type: 'Multikey',
  controller: did,
  publicKeyMultibase: encodeMultikey(publicKeyOf(seed)),
});

export const documentOf = (did: string, keys: Readonly<Record<string, number>>) => ({
  '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
  id: did,
  verificationMethod: Object.entries(keys).map(([fragment, seed]) => methodOf(did, fragment, seed)),
  assertionMethod: Object.keys(keys).map((fragment) => `${did}#${fragment}`),
});

export const serviceDocument = documentOf(SERVICE, {
  'receipt-1': SEEDS.oldReceipt,
  'receipt-2': SEEDS.receipt,
  'status-1': SEEDS.status,
});
export const receiptSigner = signerOf(SEEDS.receipt, `${SERVICE}#receipt-2`);
export const statusSigner = signerOf(SEEDS.status, `${SERVICE}#status-1`);

export const PURCHASE: Action = {
  type: 'commerce:purchase',
  resource: 'order/17',
  amount: 42_700,
  currency: 'USD',
};
export const API_CALL: Action = {
  type: 'api:call',
  method: 'GET',
  resource: 'https://api.shop.example/v1/orders',
};

export const GRANT_ID = `urn:svc:grant:${encodeUlid(NOW_MS - 86_400_000, new Uint8Array(10).fill(7))}`;

export interface Setting {
  readonly nowMs: number;
  readonly grant: JsonObject;
  readonly proof: JsonObject;
  readonly action: unknown;
  readonly principalDocument: unknown;
  readonly revoked: boolean;
  readonly listUrl: string;
  readonly listSigner: Signer;
  readonly listIssuer: string;
  readonly listValidUntil: string | null;
  readonly profile: ProfileId;
  /** Replaces the Capabilities of the usual Grant. */
  readonly capabilities: readonly JsonObject[];
  readonly facts: Partial<EvaluateInput['facts']>;
}

const DEFAULTS = {
  nowMs: NOW_MS,
  grant: {} as JsonObject,
  proof: {} as JsonObject,
  action: PURCHASE as unknown,
  principalDocument: documentOf(PRINCIPAL, { 'key-1': SEEDS.principal }) as unknown,
  revoked: false,
  listUrl: LIST_URL,
  listSigner: statusSigner,
  listIssuer: SERVICE,
  listValidUntil: null as string | null,
  profile: 'svc-base-v1' as ProfileId,
  capabilities: [
    {
      action: 'commerce:purchase',
      constraints: { maxAmount: 50_000, currency: 'USD' },
      resources: ['order/**'],
    },
    { action: 'api:call', constraints: { methods: ['GET', 'HEAD'] } },
  ] as readonly JsonObject[],
  facts: {} as Partial<EvaluateInput['facts']>,
} satisfies Setting;

export interface World {
  readonly input: EvaluateInput;
  readonly body: ReceiptBody;
  readonly signed: SignedReceipt;
  readonly grant: string;
  readonly proof: string;
  readonly action: unknown;
  /** The texts that `/evidence/{hash}` would serve, and the balances, which it would not serve. */
  readonly evidence: ReadonlyMap<string, string>;
}

/** Runs one verification as the service does, in a world that differs from the usual one in `changes`. */
export const buildWorld = async (changes: Partial<Setting> = {}): Promise<World> => {
  const setting: Setting = { ...DEFAULTS, ...changes };
  const grant = await buildGrant(setting);
  const proof = await buildProof(setting);
  const list = await buildStatusList(setting);
  const document = JSON.stringify(setting.principalDocument);
  const input = buildInput(setting, grant, proof, document, list);
  const body = evaluateJson(input, portableCrypto);
  const { balances } = input.facts;
  const snapshots = typeof balances === 'object' ? [jcs(balances.found as unknown as JsonObject)] : [];
  const texts = [document, list, ...snapshots];
  return {
    input,
    body,
    signed: await signReceipt(body, receiptSigner),
    grant,
    proof,
    action: setting.action,
    evidence: new Map(texts.map((text) => [sha256Of(portableCrypto, text), text])),
  };
};

const buildGrant = (setting: Setting): Promise<string> =>
  signCompactJws(
    signerOf(SEEDS.principal, `${PRINCIPAL}#key-1`),
    { typ: 'vc+jwt' },
    {
      '@context': [
        'https://www.w3.org/ns/credentials/v2',
        'https://www.w3.org/ns/credentials/undefined-terms/v2',
      ],
      id: GRANT_ID,
      type: ['VerifiableCredential', 'SvcGrant'],
      issuer: PRINCIPAL,
      validFrom: '2026-11-20T00:00:00Z',
      validUntil: '2026-12-20T00:00:00Z',
      credentialStatus: {
        id: `${setting.listUrl}#${INDEX}`,
        type: 'BitstringStatusListEntry',
        statusPurpose: 'revocation',
        statusListIndex: String(INDEX),
        statusListCredential: setting.listUrl,
      },
      credentialSubject: { id: AGENT, capabilities: setting.capabilities },
      ...setting.grant,
    },
  );

const buildProof = (setting: Setting): Promise<string> =>
  signCompactJws(
    signerOf(SEEDS.agent, `${AGENT}#${AGENT.slice('did:key:'.length)}`),
    { typ: 'svc-proof+jwt' },
    {
      iss: AGENT,
      aud: SHOP,
      grant_id: GRANT_ID,
      htm: 'GET',
      htu: 'https://api.shop.example/v1/orders?page=2',
      action: setting.action as JsonObject,
      iat: Math.floor(setting.nowMs / 1000) - 3,
      jti: 'A'.repeat(22),
      ...setting.proof,
    },
  );

export const buildStatusList = (setting: Partial<Setting> = {}): Promise<string> => {
  const { revoked, listUrl, listIssuer, listSigner, listValidUntil } = { ...DEFAULTS, ...setting };
  const bits = createBitstring();
  if (revoked) setBit(bits, INDEX);
  const credential = buildStatusListCredential({
    id: listUrl,
    issuer: listIssuer,
    validFrom: '2026-11-20T07:59:50Z',
    ...(listValidUntil === null ? {} : { validUntil: listValidUntil }),
    encodedList: encodeBitstring(bits),
  });
  return signCompactJws(listSigner, { typ: 'vc+jwt' }, credential as unknown as JsonObject);
};

const buildInput = (
  setting: Setting,
  grant: string,
  proof: string,
  document: string,
  list: string,
): EvaluateInput => ({
  receipt_id: `drc_${encodeUlid(setting.nowMs, new Uint8Array(10).fill(9))}`,
  now: formatTimestamp(setting.nowMs),
  relying_party: { did: SHOP, profile: setting.profile, proof_window_seconds: 60 },
  grant,
  proof,
  action: setting.action,
  facts: {
    principal: {
      found: { verification: 'verified', key: { state: 'active', since: '2026-01-01T00:00:00Z' } },
    },
    document: { found: { document, resolved_at: formatTimestamp(setting.nowMs - 60_000) } },
    allocation: {
      found: {
        issuer: PRINCIPAL,
        agent: AGENT,
        status_list_credential: LIST_URL,
        status_list_index: String(INDEX),
        allocated_at: '2026-11-19T08:00:00Z',
      },
    },
    status: {
      found: {
        revoked: setting.revoked,
        credential_hash: sha256Of(portableCrypto, list),
        valid_from: '2026-11-20T07:59:50Z',
        checked_at: formatTimestamp(setting.nowMs - 5_000),
      },
    },
    spent: { found: false },
    ...setting.facts,
  },
});

/** A Receipt with a wrong body that is signed correctly, as a faulty service could issue. */
export const resign = async (
  body: ReceiptBody,
  change: (draft: Draft) => void,
  signer: Signer = receiptSigner,
): Promise<string> => {
  const draft = structuredClone(body) as unknown as Draft;
  change(draft);
  return (await signReceipt(draft as unknown as ReceiptBody, signer)).text;
};

/** A body in which any value may be set anywhere. */
export type Draft = { [name: string]: unknown } & {
  evidence: { [name: string]: unknown } & {
    issuer_resolution: Record<string, unknown>;
    status: Record<string, unknown>;
  };
  protocol: Record<string, unknown> & { checks: Record<string, unknown> };
  trust: Record<string, unknown> & { checks: Record<string, unknown> };
  principal: Record<string, unknown>;
  authority: Record<string, unknown> & { constraints: Record<string, unknown> };
};
