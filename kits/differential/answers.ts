/** The TypeScript libraries' answers to the questions that kits are asked. Null if a question has no answer. */
import { createHash, sign } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import {
  decodeUtf8,
  encodeBase64urlText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jcs,
  member,
  normalizeHtu,
  parseDidWeb,
  parseStrictJson,
  parseUtcTime,
} from '@svc/codec';
import { verifyInclusion } from '@svc/merkle';
import { isJti, parseAction, parseCompactJws, parseGrant, parseProof } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { verifyReceipt } from '@svc/receipts';
import { verifyBundle } from '@svc/receipts/bundle';
import { verifyIncludedReceipt } from '@svc/receipts/inclusion';
import {
  createPrincipalClient,
  type GrantRequest,
  verifyWebhook,
  type WebhookOptions,
} from '@svc/sdk-principal';
import { agentFromJwk, type ProofRequest, signProof } from '@svc/sdk-principal/agent';
import { decodeBitstring, parseStatusListCredential } from '@svc/status-list';
import { readServiceKeys, verifyCheckpoint } from '@svc/transparency';
import { keyPairOf } from './key-pair.ts';

/** A question. Bytes are in hex, and so are texts that may not be UTF-8. */
export interface Question {
  readonly op: keyof typeof ANSWERS;
  readonly [name: string]: unknown;
}

/** `codes`: everything that is wrong. A kit names only the first fault that it finds. */
export type Answer = JsonValue | { readonly codes: readonly string[] };

type Texts<Name extends string> = Readonly<Record<Name, string>>;
interface Path extends Texts<'leaf' | 'root'> {
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
}
interface Requested extends Omit<ProofRequest, 'agent' | 'grantId' | 'now' | 'jti'> {
  readonly grant_id: string;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly now: number;
}
interface Issued extends Texts<'seed' | 'kid'> {
  /** The answer of `POST /grants`. */
  readonly allocation: JsonObject;
  readonly capabilities: JsonValue;
  /** Null for any relying party. */
  readonly audience: JsonValue;
  /** Seconds since the epoch. */
  readonly valid_from: number;
  readonly lifetime_seconds: number;
}
interface Delivered extends Texts<'text' | 'document' | 'subscription'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Seconds since the epoch. */
  readonly now: number;
}
/** The limit of `@svc/receipts`. */
const STATUS_LIST_MAX_CHARS = 2_600_000;

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
const textOf = (hex: string): string | null => decodeUtf8(bytesOf(hex));

const strict = (hex: string): { readonly value: JsonValue } | null => {
  const text = textOf(hex);
  const parsed = text === null ? null : parseStrictJson(text);
  return parsed?.ok === true ? parsed : null;
};

/** The canonical form of any JSON text. An object with a duplicate member has none. */
const canonicalOf = (text: string): string | null => {
  try {
    return jcs(JSON.parse(text));
  } catch {
    return null;
  }
};

const codesOf = (failures: readonly { readonly code: string }[]): Answer => ({
  codes: [...new Set(failures.map(({ code }) => code))],
});

const serviceOf = (document: string): unknown => {
  const read = readServiceKeys(document);
  return read.ok ? read.keys : document;
};

/**
 * Also null if zlib refuses what fflate and the kits read: DEFLATE whose Huffman codes are not a complete set
 * (docs/divergences.md). What both read is the same.
 */
const bitsOf = (text: string): Uint8Array | null => {
  const bits = decodeBitstring(text);
  if (bits === null) return null;
  try {
    if (!gunzipSync(Buffer.from(text.slice(1), 'base64url')).equals(bits))
      throw new Error(`zlib reads another list: ${text}`);
    return bits;
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === 'Z_DATA_ERROR') return null;
    throw problem;
  }
};

const statusListOf = (credential: string, document: string): Answer => {
  const read = readServiceKeys(document);
  if (!read.ok) return codesOf(read.failures);
  const jws = parseCompactJws(credential, STATUS_LIST_MAX_CHARS);
  if (!jws.ok) return { codes: ['malformed-jws'] };
  const kid = member(jws.header, 'kid');
  const header = encodeBase64urlText(jcs({ alg: 'EdDSA', kid: String(kid), typ: 'vc+jwt' }));
  if (typeof kid !== 'string' || jws.signingInput.split('.')[0] !== header)
    return { codes: ['wrong-header'] };
  const list = parseStatusListCredential(jws.payload);
  const bits = list === null ? null : bitsOf(list.credentialSubject.encodedList);
  if (list === null || bits === null || list.issuer !== read.keys.did)
    return { codes: ['malformed-status-list'] };
  const signedAtMs = parseUtcTime(list.validFrom);
  const wrong = read.keys.check('status', { ...jws, kid, signedAtMs }, nativeCrypto);
  if (wrong !== null) return codesOf([wrong]);
  return [list.id, list.validFrom, createHash('sha256').update(bits).digest('hex')];
};

export const ANSWERS = {
  json: ({ text }: Texts<'text'>): Answer => {
    const parsed = strict(text);
    return parsed === null ? null : jcs(parsed.value);
  },
  jcs: ({ text }: Texts<'text'>): Answer => canonicalOf(textOf(text) ?? ''),
  htu: ({ url }: Texts<'url'>): Answer => normalizeHtu(textOf(url) ?? '\n'),
  jti: ({ text }: Texts<'text'>): Answer => isJti(textOf(text) ?? ''),
  didWeb: ({ text }: Texts<'text'>): Answer => parseDidWeb(textOf(text) ?? '') !== null,
  time: ({ text }: Texts<'text'>): Answer => parseUtcTime(textOf(text) ?? ''),
  ed25519: ({ key, message, signature }: Texts<'key' | 'message' | 'signature'>): Answer =>
    nativeCrypto.verify(bytesOf(key), bytesOf(message), bytesOf(signature)),
  strictKey: ({ key }: Texts<'key'>): Answer => nativeCrypto.isStrictKey(bytesOf(key)),
  action: ({ text }: Texts<'text'>): Answer => {
    const parsed = strict(text);
    return parsed !== null && parseAction(parsed.value).ok;
  },
  proof: ({ token }: Texts<'token'>): Answer => {
    const parsed = parseProof(textOf(token) ?? '');
    if (!parsed.ok) return null;
    const {
      agent,
      audience,
      grantId,
      htm,
      normalizedHtu,
      iatSeconds,
      jti,
      publicKey,
      signingInput,
      signature,
    } = parsed.value;
    const isSigned = nativeCrypto.verify(publicKey, signingInput, signature);
    return [agent, audience, grantId, htm, normalizedHtu, iatSeconds, jti, isSigned];
  },
  grant: ({ token }: Texts<'token'>): Answer => {
    const parsed = parseGrant(textOf(token) ?? '');
    if (!parsed.ok) return { codes: [parsed.reason] };
    const { kid, id, issuer, agent, validFrom, validUntil, audience } = parsed.value;
    const isSound = parsed.budgetProblem === null;
    return [kid, id, issuer, agent, validFrom, validUntil, audience === null ? null : [...audience], isSound];
  },
  receipt: ({ text, document }: Texts<'text' | 'document'>): Answer => {
    const verified = verifyReceipt(textOf(text) ?? '', serviceOf(document), { crypto: nativeCrypto });
    return verified.ok ? [verified.decision, verified.kid] : codesOf(verified.failures);
  },
  checkpoint: ({ text, document }: Texts<'text' | 'document'>): Answer => {
    const serviceDidDocument = serviceOf(document);
    const verified = verifyCheckpoint({
      checkpoint: textOf(text) ?? '',
      serviceDidDocument,
      crypto: nativeCrypto,
    });
    return verified.ok
      ? [verified.checkpoint.day, verified.checkpoint.root, verified.kid]
      : codesOf(verified.failures);
  },
  included: ({
    receipt,
    inclusion,
    checkpoint,
    attestation,
    document,
  }: Texts<'receipt' | 'inclusion' | 'checkpoint' | 'attestation' | 'document'>): Answer => {
    const verified = verifyIncludedReceipt({
      ...{ receipt, inclusion, serviceDidDocument: serviceOf(document), crypto: nativeCrypto },
      ...(checkpoint === '' ? {} : { checkpoint }),
      ...(attestation === '' ? {} : { attestation }),
    });
    return verified.ok ? [verified.decision, verified.included.checkpoint.day] : codesOf(verified.failures);
  },
  bundle: ({ text, document }: Texts<'text' | 'document'>): Answer => {
    const pin = { serviceDidDocument: serviceOf(document) };
    const verified = verifyBundle(textOf(text) ?? '', pin, nativeCrypto);
    if (verified.ok) return [verified.receipt.decision, verified.checkpoint.day, verified.evidence.size];
    // A kit gets keys, so it has read the document before it checks the bundle.
    const read = readServiceKeys(document);
    return codesOf(read.ok ? verified.failures : [...verified.failures, ...read.failures]);
  },
  merkle: ({ leaf, index, size, path, root }: Path): Answer =>
    verifyInclusion({ leafHash: bytesOf(leaf), index, size, path: path.map(bytesOf) }, bytesOf(root)),
  bitstring: ({ text }: Texts<'text'>): Answer => {
    const bits = bitsOf(textOf(text) ?? '');
    return bits === null ? null : createHash('sha256').update(bits).digest('hex');
  },
  webhook: async ({ headers, text, secrets, document, subscription, now }: Delivered): Promise<Answer> => {
    const options: WebhookOptions = {
      ...(secrets.length === 0 ? {} : { secret: secrets }),
      ...(document === '' ? {} : { didDocument: document }),
      ...(subscription === '' ? {} : { subscriptionId: subscription }),
      now: () => now * 1000,
    };
    try {
      const event = await verifyWebhook({ headers, body: bytesOf(text) }, options);
      return [
        event.id,
        event.type,
        event.timestamp,
        event.subscription_id,
        jcs(event.data as unknown as JsonValue),
      ];
    } catch {
      return null;
    }
  },
  statusList: ({ text, document }: Texts<'text' | 'document'>): Answer =>
    statusListOf(textOf(text) ?? '', document),
  dryRun: ({ text, document }: Texts<'text' | 'document'>): Answer => {
    const verified = verifyReceipt(textOf(text) ?? '', serviceOf(document), { crypto: nativeCrypto });
    if (verified.ok) throw new Error(`a dry run was taken for a Receipt: ${text}`);
    return codesOf(verified.failures);
  },
  signGrant: async ({
    seed,
    kid,
    allocation,
    capabilities,
    audience,
    valid_from: validFrom,
    lifetime_seconds: lifetimeSeconds,
  }: Issued): Promise<Answer> => {
    const { key } = keyPairOf(bytesOf(seed));
    const client = createPrincipalClient({
      ...{ baseUrl: 'https://svc.example', apiKey: 'key' },
      signer: { kid, sign: (bytes) => new Uint8Array(sign(null, bytes, key)) },
      fetch: async () => Response.json(allocation, { status: 201 }),
    });
    const input = {
      ...{ agent: allocation.agent, capabilities, validFrom: new Date(validFrom * 1000), lifetimeSeconds },
      ...(audience === null ? {} : { audience }),
    };
    try {
      return (await client.grants.issue(input as unknown as GrantRequest)).grant;
    } catch {
      return null;
    }
  },
  signProof: async ({ seed, request }: Texts<'seed'> & { readonly request: Requested }): Promise<Answer> => {
    const { method, url, action, audience, grant_id: grantId, now, jti } = request;
    const agent = agentFromJwk(keyPairOf(bytesOf(seed)).jwk);
    try {
      return await signProof({ agent, method, url, action, audience, grantId, jti, now: () => now * 1000 });
    } catch {
      return null;
    }
  },
} as const;

/**
 * Whether a kit's answer is right: the same answer, or the code of something that is wrong. For a Receipt, header or
 * payload that is not strict JSON a kit reports only that, whereas `verifyReceipt` continues and names the faulty
 * member.
 */
const NO_STRICT_JSON: readonly unknown[] = ['malformed-receipt', 'wrong-header', 'payload-not-canonical'];

export const agrees = (ours: Answer, theirs: unknown): boolean => {
  if (isJsonObject(ours) && 'codes' in ours) {
    const code = Object(theirs).code as unknown;
    return NO_STRICT_JSON.includes(code) || (ours.codes as readonly unknown[]).includes(code);
  }
  return JSON.stringify(ours) === JSON.stringify(theirs);
};
