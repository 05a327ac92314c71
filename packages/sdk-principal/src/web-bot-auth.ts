/**
 * HTTP Message Signatures with an Agent's key (RFC 9421; draft-ietf-webbotauth-httpsig-protocol), for sites that
 * identify Agents by these. They are used together with a Proof and do not replace it.
 */
import { encodeUtf8, parseDidKey } from '@svc/codec';
import {
  aFunction,
  anInteger,
  checkValue,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
} from '@svc/sdk-core/arguments';
import { SvcError } from '@svc/sdk-core/errors';
import { randomToken } from '@svc/sdk-core/random';
import { publicJwk, REQUEST_TAG, sha256Bytes, thumbprintOf } from '@svc/sdk-core/web-bot-auth';
import { appendSignature, component, createSignature } from 'http-message-sig';
import { type Agent, anAgent } from './agent-key.ts';

/** Signs requests with the key of the Agent that makes them. */
export interface RequestSigner {
  /**
   * Adds `Signature`, `Signature-Input` and, if configured, `Signature-Agent` to the request. Its other headers must be
   * complete.
   */
  sign(request: Request, agent: Agent, nowMs: number): Promise<void>;
}

/** How requests are signed. */
export interface RequestSignerOptions {
  /**
   * The https origin that serves `createKeyDirectory`, for verifiers that do not have the key yet. The draft demands
   * it. If absent, the verifier must have the key already, as a relying party with the Proof does.
   */
  signatureAgent?: string;
  /** How long a signature is valid, 1–86,400 seconds; 60 unless given. */
  lifetimeSeconds?: number;
}

const LABEL = 'svc';
const COMPONENTS = ['@authority', '@method', '@path', '@query'];
/** Covered if present: they bind the signature to the Grant and the Proof. */
const COVERED_FIELDS = ['svc-grant', 'svc-proof', 'content-digest'];
const DAY_SECONDS = 86_400;

const anHttpsOrigin = rule(
  'an origin as https://host[:port], without a path',
  (value): value is string =>
    isText(value) && URL.canParse(value) && new URL(value).origin === value && value.startsWith('https:'),
);
const aLifetime = optionally(anInteger(1, DAY_SECONDS, 'seconds; at most a day'));

const SIGNER: Rules<RequestSignerOptions> = {
  signatureAgent: optionally(anHttpsOrigin),
  lifetimeSeconds: aLifetime,
};

/**
 * A signer for the option `signature` of `createAgentFetch`. The signature covers the address, method, path, query,
 * Grant, Proof and, if present, `Content-Digest`. `keyid` is the RFC 7638 thumbprint of the Agent's key.
 * @throws SvcError `invalid-argument`
 * @example
 * const signature = createRequestSigner({ signatureAgent: 'https://agent.example' });
 */
export function createRequestSigner(options: RequestSignerOptions = {}): RequestSigner {
  const { signatureAgent, lifetimeSeconds = 60 } = readArgument('createRequestSigner', options, SIGNER);
  return {
    async sign(request, agent, nowMs) {
      if (signatureAgent !== undefined)
        request.headers.append('Signature-Agent', `${LABEL}=${JSON.stringify(signatureAgent)}`);
      const covered = COVERED_FIELDS.filter((name) => request.headers.has(name));
      const { href, hash } = new URL(request.url);
      const message = {
        kind: 'request',
        method: request.method,
        targetUri: href.slice(0, href.length - hash.length),
        fields: [...covered, 'signature-agent'].flatMap((name) => {
          const value = request.headers.get(name);
          return value === null ? [] : [{ name, value }];
        }),
      } as const;
      const agentMember = signatureAgent === undefined ? [] : [component('signature-agent', { key: LABEL })];
      const created = Math.floor(nowMs / 1000);
      const fields = await createSignature(message, {
        label: LABEL,
        components: [...COMPONENTS, ...covered, ...agentMember],
        parameters: {
          created,
          keyid: keyOf(agent).keyid,
          alg: 'ed25519',
          expires: created + lifetimeSeconds,
          nonce: randomToken(),
          tag: REQUEST_TAG,
        },
        signer: signerOf(agent),
      });
      const signed = appendSignature(request.headers, fields);
      for (const name of ['signature', 'signature-input']) request.headers.set(name, signed.get(name) ?? '');
    },
  };
}

const keyOf = (agent: Agent) => {
  const parsed = parseDidKey(agent.did);
  if (parsed === null)
    throw new SvcError('invalid-argument', 'the did of an Agent must be a did:key of Ed25519');
  return { jwk: publicJwk(parsed.publicKey), keyid: thumbprintOf(parsed.publicKey) };
};

const signerOf = (agent: Agent) => ({
  algorithm: 'ed25519',
  sign: (data: Uint8Array) => agent.sign(data),
});

/** Whose keys to publish, and where. */
export interface KeyDirectoryOptions {
  /** 1–16 Agents: those that sign now and those that soon will. */
  agents: readonly Agent[];
  /** The https origin that serves the directory: the `signatureAgent` of these Agents' signers. */
  origin: string;
  /** How long the directory's signatures are valid, 1–86,400 seconds; a day unless given. */
  lifetimeSeconds?: number;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
}

/** The path of a directory, below its origin. */
export const KEY_DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
const DIRECTORY_TYPE = 'application/http-message-signatures-directory+json';
const DIRECTORY_TAG = 'http-message-signatures-directory';

const DIRECTORY: Rules<KeyDirectoryOptions> = {
  agents: rule(
    '1 to 16 Agents, as agentFromJwk gives them',
    (value): value is readonly Agent[] => Array.isArray(value) && value.length >= 1 && value.length <= 16,
  ),
  origin: anHttpsOrigin,
  lifetimeSeconds: aLifetime,
  now: optionally(aFunction()),
};

/**
 * Makes the handler for `KEY_DIRECTORY_PATH`. It serves the keys as a JWK Set that each key has signed for this origin,
 * so nobody else can serve the set as their own.
 * @throws SvcError `invalid-argument`
 * @example
 * const directory = createKeyDirectory({ agents: [agent], origin: 'https://agent.example' });
 * const answerTo = (request: Request) => (new URL(request.url).pathname === KEY_DIRECTORY_PATH ? directory() : null);
 */
export function createKeyDirectory(options: KeyDirectoryOptions): () => Promise<Response> {
  const {
    agents,
    origin,
    lifetimeSeconds = DAY_SECONDS,
    now = Date.now,
  } = readArgument('createKeyDirectory', options, DIRECTORY);
  for (const agent of agents) checkValue('agents', agent, anAgent);
  const keys = agents.map((agent) => ({ agent, ...keyOf(agent) }));
  const body = JSON.stringify({
    keys: keys.map(({ jwk: { kty, crv, x }, keyid }) => ({ kty, crv, kid: keyid, x, use: 'sig' })),
  });
  const digest = `sha-256=:${btoa(String.fromCharCode(...sha256Bytes(body)))}:`;
  const message = {
    kind: 'response',
    status: 200,
    fields: [{ name: 'content-digest', value: digest }],
    request: { kind: 'request', method: 'GET', targetUri: `${origin}${KEY_DIRECTORY_PATH}`, fields: [] },
  } as const;
  return async () => {
    const created = Math.floor(now() / 1000);
    let headers = new Headers({
      'content-type': DIRECTORY_TYPE,
      'content-digest': digest,
      'cache-control': `max-age=${Math.min(lifetimeSeconds, 3_600)}`,
    });
    for (const [i, { agent, keyid }] of keys.entries()) {
      const fields = await createSignature(message, {
        label: `binding${i}`,
        components: [component('@authority', { req: true }), 'content-digest'],
        parameters: {
          created,
          keyid,
          alg: 'ed25519',
          expires: created + lifetimeSeconds,
          tag: DIRECTORY_TAG,
        },
        signer: signerOf(agent),
      });
      headers = appendSignature(headers, fields);
    }
    return new Response(encodeUtf8(body) as Uint8Array<ArrayBuffer>, { headers });
  };
}
