import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoPort, decodeBase64url, portableCrypto } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import { thumbprintOf } from '@svc/sdk-core/web-bot-auth';
import {
  agentFromJwk,
  createAgentFetch,
  type Ed25519PrivateJwk,
  generateAgentKey,
} from '@svc/sdk-principal/agent';
import { createKeyDirectory, createRequestSigner, KEY_DIRECTORY_PATH } from '@svc/sdk-principal/web-bot-auth';
import { startServer } from '@svc/testkit/sdk/scripted-server';
import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import express from 'express';
import fastify from 'fastify';
import { appendSignature, component, createSignature, verifySignature } from 'http-message-sig';
import { describe, expect, it } from 'vitest';
import { requireAuthority as expressGuard } from '../src/express.ts';
import { requireAuthority as fastifyGuard } from '../src/fastify.ts';
import { protect } from '../src/fetch.ts';
import { createVerifier } from '../src/index.ts';
import { sameKey } from '../src/web-bot-auth.ts';
import { agent, grant, NOW_MS, newProof, ORIGIN, order, SERVICE, SHOP, serviceScript } from './world.ts';

const now = () => NOW_MS;
const other = agentFromJwk((await generateAgentKey()).privateJwk);
const otherProof = await newProof();
const publicKeyOf = (proof: string) => {
  const parsed = parseProof(proof);
  return parsed.ok ? parsed.value.publicKey : new Uint8Array();
};

interface Vectors {
  readonly key: Ed25519PrivateJwk & { readonly thumbprint: string };
  readonly requests: readonly {
    readonly target_url: string;
    readonly created_ms: number;
    readonly expires_ms: number;
    readonly nonce: string;
    readonly label: string;
    readonly signature: string;
    readonly signature_input: string;
    readonly signature_agent?: string;
    readonly signature_agent_key?: string;
  }[];
  readonly directory: {
    readonly authority: string;
    readonly created_ms: number;
    readonly expires_ms: number;
    readonly content_digest: string;
    readonly signature: string;
    readonly signature_input: string;
    readonly body: string;
  };
}
const vectors = readThirdPartyJson<Vectors>('web-bot-auth/ed25519.json');
const bytesOf = (text: string) => decodeBase64url(text) ?? new Uint8Array();
/** Uses the same verification as the middlewares. */
const strict = (x: string) => ({
  algorithm: 'ed25519',
  verify: (data: Uint8Array, signature: Uint8Array) => portableCrypto.verify(bytesOf(x), data, signature),
});
const signing = (jwk: Ed25519PrivateJwk) => ({ algorithm: 'ed25519', sign: agentFromJwk(jwk).sign });
const anything = { algorithms: ['ed25519'], requiredComponents: [], requiredParameters: ['created'] };

describe('third-party vectors:', () => {
  it('RFC 9421 Appendix B.2.6 is signed and verified, and refused with another method', async () => {
    const rfc = readThirdPartyJson<{
      jwk: Ed25519PrivateJwk;
      method: string;
      target_uri: string;
      fields: [string, string][];
      signature_input: string;
      signature: string;
    }>('rfc/rfc9421-appendix-b.json');
    const fields = rfc.fields.map(([name, value]) => ({ name, value }));
    const message = { kind: 'request', method: rfc.method, targetUri: rfc.target_uri, fields } as const;
    const signed = await createSignature(message, {
      label: 'sig-b26',
      components: ['date', '@method', '@path', '@authority', 'content-type', 'content-length'],
      parameters: { created: 1_618_884_473, keyid: 'test-key-ed25519' },
      signer: signing(rfc.jwk),
    });
    expect(signed).toEqual({ signature: rfc.signature, signatureInput: rfc.signature_input });
    const verify = (method: string) =>
      verifySignature(
        {
          ...message,
          method,
          fields: [
            ...fields,
            { name: 'signature', value: rfc.signature },
            { name: 'signature-input', value: rfc.signature_input },
          ],
        },
        { policy: anything, resolveVerifier: () => strict(rfc.jwk.x) },
      );
    await expect(verify('POST')).resolves.toMatchObject({ label: 'sig-b26' });
    await expect(verify('PUT')).rejects.toMatchObject({ code: 'VerificationFailed' });
  });

  it('keys have the thumbprints of RFC 8037 Appendix A.3 and of web-bot-auth', () => {
    const { jwk } = readThirdPartyJson<{ jwk: { x: string } }>('rfc/rfc8037-appendix-a.json');
    expect(thumbprintOf(bytesOf(jwk.x))).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    expect(thumbprintOf(bytesOf(vectors.key.x))).toBe(vectors.key.thumbprint);
  });

  it.each(vectors.requests)('web-bot-auth: the request $label gets the same signature', async (one) => {
    const { label, nonce, signature_agent: value, signature_agent_key: member = '' } = one;
    const fields = value === undefined ? [] : [{ name: 'signature-agent', value }];
    const signed = await createSignature(
      { kind: 'request', method: 'GET', targetUri: one.target_url, fields },
      {
        label,
        components: ['@authority', ...fields.map(({ name }) => component(name, { key: member }))],
        parameters: {
          created: one.created_ms / 1000,
          keyid: vectors.key.thumbprint,
          alg: 'ed25519',
          expires: one.expires_ms / 1000,
          nonce,
          tag: 'web-bot-auth',
        },
        signer: signing(vectors.key),
      },
    );
    expect(signed).toEqual({ signature: one.signature, signatureInput: one.signature_input });
  });

  it('web-bot-auth: the key directory has the same body, digest and signature input, except for its lifetime', async () => {
    const { directory, key } = vectors;
    const lifetimeSeconds = 600;
    const answer = createKeyDirectory({
      agents: [agentFromJwk(key)],
      origin: `https://${directory.authority}`,
      lifetimeSeconds,
      now: () => directory.created_ms,
    });
    const response = await answer();
    expect(await response.text()).toBe(directory.body);
    expect(response.headers.get('content-digest')).toBe(directory.content_digest);
    const expires = directory.created_ms / 1000 + lifetimeSeconds;
    expect(response.headers.get('signature-input')).toBe(
      directory.signature_input.replace(String(directory.expires_ms / 1000), String(expires)),
    );
  });

  interface Draft {
    readonly requests: readonly {
      readonly section: string;
      readonly target_uri: string;
      readonly signature_agent: string;
      readonly signature_base: string;
      readonly signature_input: string;
      readonly signature: string;
    }[];
    readonly directory: {
      readonly target_uri: string;
      readonly content_digest: string;
      readonly body: string;
      readonly signature_input: string;
      readonly signature: string;
    };
  }
  const draft = readThirdPartyJson<Draft>('web-bot-auth-draft/ed25519.json');
  const atTheTime = {
    policy: { ...anything, now: 1_735_689_601 },
    resolveVerifier: () => strict(vectors.key.x),
  };
  const signedFields = (one: { readonly signature_input: string; readonly signature: string }) => [
    { name: 'signature-input', value: one.signature_input },
    { name: 'signature', value: one.signature },
  ];

  it.each(draft.requests)(
    'the draft of web-bot-auth: $section is verified over the same bytes, and refused for another host',
    async (one) => {
      const verified: string[] = [];
      const verify = (targetUri: string) =>
        verifySignature(
          {
            kind: 'request',
            method: 'POST',
            targetUri,
            fields: [{ name: 'signature-agent', value: one.signature_agent }, ...signedFields(one)],
          },
          {
            ...atTheTime,
            resolveVerifier: () => ({
              algorithm: 'ed25519',
              verify: (data: Uint8Array, signature: Uint8Array) => {
                verified.push(new TextDecoder().decode(data));
                return strict(vectors.key.x).verify(data, signature);
              },
            }),
          },
        );
      await expect(verify(one.target_uri)).resolves.toMatchObject({ label: 'sig2' });
      expect(verified).toEqual([one.signature_base]);
      await expect(verify('https://another.example/')).rejects.toMatchObject({ code: 'VerificationFailed' });
    },
  );

  it('the draft of web-bot-auth: its directory is verified, and has the body and digest that we publish', async () => {
    const { directory } = draft;
    const verify = (targetUri: string) =>
      verifySignature(
        {
          kind: 'response',
          status: 200,
          fields: [{ name: 'content-digest', value: directory.content_digest }, ...signedFields(directory)],
          request: { kind: 'request', method: 'GET', targetUri, fields: [] },
        },
        atTheTime,
      );
    await expect(verify(directory.target_uri)).resolves.toMatchObject({ label: 'binding' });
    await expect(verify('https://another.test/')).rejects.toMatchObject({ code: 'VerificationFailed' });
    const { origin, pathname } = new URL(directory.target_uri);
    expect(pathname).toBe(KEY_DIRECTORY_PATH);
    const answer = await createKeyDirectory({ agents: [agentFromJwk(vectors.key)], origin, now })();
    expect(answer.headers.get('content-digest')).toBe(directory.content_digest);
    expect(await answer.text()).toBe(directory.body);
  });
});

it('a directory of several keys is signed by each of them, for its own origin only', async () => {
  const origin = 'https://agent.example';
  const response = await createKeyDirectory({ agents: [agent, other], origin, now })();
  expect(response.headers.get('content-type')).toBe('application/http-message-signatures-directory+json');
  const fields = [...response.headers].map(([name, value]) => ({ name, value }));
  const { keys } = (await response.json()) as { keys: { kid: string; x: string }[] };
  expect(keys.map(({ kid, x }) => [kid, thumbprintOf(bytesOf(x))])).toHaveLength(2);
  for (const [i, { kid, x }] of keys.entries()) {
    const verify = (host: string) =>
      verifySignature(
        {
          kind: 'response',
          status: 200,
          fields,
          request: {
            kind: 'request',
            method: 'GET',
            targetUri: `https://${host}${KEY_DIRECTORY_PATH}`,
            fields: [],
          },
        },
        {
          label: `binding${i}`,
          policy: { ...anything, now: NOW_MS / 1000 },
          resolveVerifier: ({ parameters }) => {
            expect(parameters).toMatchObject({ keyid: kid, tag: 'http-message-signatures-directory' });
            return strict(x);
          },
        },
      );
    await expect(verify('agent.example')).resolves.toBeDefined();
    await expect(verify('evil.example')).rejects.toMatchObject({ code: 'VerificationFailed' });
  }
});

/** The request as `createAgentFetch` sends it. */
const sentBy = async (
  options: Parameters<typeof createRequestSigner>[0],
  change: { at?: () => number } = {},
) => {
  const sent: Request[] = [];
  const fetchOnce = async (request: string | URL | Request) => {
    sent.push(request as Request);
    return new Response();
  };
  const agentFetch = createAgentFetch({
    ...{ agent, grant, audience: SHOP, action: order, now: change.at ?? now },
    signature: createRequestSigner(options),
    fetch: fetchOnce as typeof fetch,
  });
  await agentFetch(`${ORIGIN}/orders?draft=1#top`, {
    method: 'POST',
    headers: { 'x-name': 'a' },
    body: '{}',
  });
  const [request] = sent;
  if (request === undefined) throw new Error('nothing was sent');
  return request;
};

const checkOf = async (
  request: Request,
  change: {
    headers?: Record<string, string | null>;
    url?: string;
    method?: string;
    atMs?: number;
    crypto?: CryptoPort;
  } = {},
) => {
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(change.headers ?? {}))
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  const fields = [...headers].map(([name, value]) => ({ name, value }));
  const { url = request.url, method = request.method } = change;
  const proof = headers.get('svc-proof') ?? '';
  const given = change.crypto === undefined ? {} : { crypto: change.crypto };
  return sameKey({ now: () => change.atMs ?? NOW_MS, ...given }).check({ method, url, fields, proof });
};

describe('the signature of a request', () => {
  it('of createAgentFetch is accepted, whatever other headers there are, and for five minutes at most', async () => {
    const request = await sentBy({ signatureAgent: 'https://agent.example' });
    expect(request.headers.get('signature-agent')).toBe('svc="https://agent.example"');
    expect(request.headers.get('signature-input')).toMatch(
      /^svc=\("@authority" "@method" "@path" "@query" "svc-grant" "svc-proof" "signature-agent";key="svc"\);created=\d+;keyid="[\w-]{43}";alg="ed25519";expires=\d+;nonce="[\w-]{32}";tag="web-bot-auth"$/,
    );
    expect(await checkOf(request)).toBeNull();
    expect(await checkOf(request, { headers: { 'x-other': 'ö' } })).toBeNull();
    expect(await checkOf(await sentBy({}))).toBeNull();
    const lasting = await sentBy({ lifetimeSeconds: 86_400 });
    expect(await checkOf(lasting, { atMs: NOW_MS + 299_000 })).toBeNull();
    expect(await checkOf(lasting, { atMs: NOW_MS + 306_000 })).toContain('PolicyViolation');
  });

  const unsigned = { signature: null, 'signature-input': null };
  it.each<[string, Parameters<typeof checkOf>[1], string]>([
    ['no signature', { headers: unsigned }, 'there is no Signature'],
    ['half a signature', { headers: { signature: null } }, 'there is no Signature'],
    ['another method', { method: 'PUT' }, 'VerificationFailed'],
    ['another path', { url: `${ORIGIN}/refunds?draft=1` }, 'VerificationFailed'],
    ['another query', { url: `${ORIGIN}/orders?draft=2` }, 'VerificationFailed'],
    ['another host', { url: 'https://evil.example/orders?draft=1' }, 'VerificationFailed'],
    ['another Proof of the same Agent', { headers: { 'svc-proof': otherProof } }, 'VerificationFailed'],
    ['another Grant', { headers: { 'svc-grant': 'x' } }, 'VerificationFailed'],
    [
      'another directory',
      { headers: { 'signature-agent': 'svc="https://evil.example"' } },
      'VerificationFailed',
    ],
    ['a Proof that cannot be read', { headers: { 'svc-proof': 'x' } }, 'names no key'],
    ['a signature from a minute ago', { atMs: NOW_MS + 66_000 }, 'PolicyViolation'],
    ['a signature from the future', { atMs: NOW_MS - 6_000 }, 'PolicyViolation'],
    [
      'a field that is too long',
      { headers: { 'signature-input': `svc=("a");x="${'x'.repeat(9_000)}"` } },
      'too long',
    ],
    ['garbage', { headers: { 'signature-input': 'svc=(' } }, 'MalformedField'],
    ['no label', { headers: { 'signature-input': '?' } }, 'no signature has a label'],
  ])('is refused with %s', async (_, change, fault) => {
    expect(await checkOf(await sentBy({ signatureAgent: 'https://agent.example' }), change)).toContain(fault);
  });

  /** Signed by hand, as another implementation might. */
  const resigned = async (change: {
    by?: typeof agent;
    keyid?: string;
    tag?: string;
    components?: string[];
    expires?: number;
    label?: string;
  }) => {
    const request = await sentBy({});
    for (const name of Object.keys(unsigned)) request.headers.delete(name);
    const created = Math.floor(NOW_MS / 1000);
    const { by = agent, tag = 'web-bot-auth', components = ['@authority', 'svc-proof'] } = change;
    const keyid =
      change.keyid ??
      (JSON.parse(await (await createKeyDirectory({ agents: [by], origin: ORIGIN })()).text()).keys[0]
        .kid as string);
    const fields = await createSignature(
      new Request(request.url.split('#')[0] ?? '', { method: 'POST', headers: request.headers }),
      {
        label: change.label ?? 'sig',
        components,
        parameters: { created, keyid, expires: change.expires ?? created + 60, tag },
        signer: { algorithm: 'ed25519', sign: by.sign },
      },
    );
    const headers = appendSignature(request.headers, fields);
    return new Request(request.url, { method: 'POST', headers });
  };
  const keyid = thumbprintOf(bytesOf(vectors.key.x));
  const own = thumbprintOf(publicKeyOf(otherProof));
  it.each<[string, Parameters<typeof resigned>[0], string | null]>([
    ['is accepted with only the required components', {}, null],
    ['is refused from another key', { by: other }, 'not of that key'],
    ['is refused from the right key with the keyid of another', { keyid }, 'not of that key'],
    ['is refused with another tag', { tag: 'agent-payer-auth' }, 'not of that key'],
    ['is refused where it does not cover the Proof', { components: ['@authority'] }, 'PolicyViolation'],
    ['is refused where it does not cover the address', { components: ['svc-proof'] }, 'PolicyViolation'],
    ['is refused after its expires time', { expires: Math.floor(NOW_MS / 1000) - 6 }, 'PolicyViolation'],
  ])('by another implementation %s', async (_, change, fault) => {
    const found = await checkOf(await resigned(change));
    if (fault === null) expect(found).toBeNull();
    else expect(found).toContain(fault);
  });

  it('costs at most one verification by the given crypto, and none where no signature has that key', async () => {
    let verified = 0;
    const crypto: CryptoPort = {
      ...portableCrypto,
      verify(...given) {
        verified++;
        return portableCrypto.verify(...given);
      },
    };
    /** Well-formed signatures under four labels, the number that is checked. */
    const fourOf = async (change: Parameters<typeof resigned>[0]) => {
      const signed = await Promise.all(['a', 'b', 'c', 'd'].map((label) => resigned({ ...change, label })));
      return checkOf(signed[0] as Request, {
        crypto,
        headers: Object.fromEntries(
          Object.keys(unsigned).map((name) => [
            name,
            signed.map(({ headers }) => headers.get(name)).join(', '),
          ]),
        ),
      });
    };
    const told: unknown[] = [];
    for (const change of [{ by: other }, { tag: 'agent-payer-auth' }, { by: other, keyid: own }, {}]) {
      verified = 0;
      told.push([await fourOf(change), verified]);
    }
    const isOther = 'it is not of that key, or not with the tag web-bot-auth';
    expect(told).toEqual([
      [isOther, 0],
      [isOther, 0],
      ['its signature does not hold: VerificationFailed', 1],
      [null, 1],
    ]);
  });

  it('with the right key is judged, wherever a signature of another key stands', async () => {
    const expired = await resigned({ expires: Math.floor(NOW_MS / 1000) - 6, label: 'own' });
    const others = await resigned({ by: other, label: 'other' });
    for (const both of [
      [expired, others],
      [others, expired],
    ]) {
      const joined = (name: string) => both.map(({ headers }) => headers.get(name)).join(', ');
      const headers = { signature: joined('signature'), 'signature-input': joined('signature-input') };
      expect(await checkOf(expired, { headers })).toContain('PolicyViolation');
    }
  });

  it('is accepted beside the signature of a proxy, and refused where only the proxy signed', async () => {
    const request = await resigned({});
    const sent = new Request(`${ORIGIN}/orders?draft=1`, { method: 'POST', headers: request.headers });
    const fields = await createSignature(sent, {
      label: 'proxy',
      components: ['@method'],
      parameters: { created: 1, keyid: 'proxy' },
      signer: { algorithm: 'ed25519', sign: other.sign },
    });
    const both = new Request(sent, { headers: appendSignature(sent.headers, fields) });
    expect(await checkOf(both)).toBeNull();
    const alone = { 'signature-input': fields.signatureInput, signature: fields.signature };
    expect(await checkOf(both, { headers: alone })).toContain('PolicyViolation');
  });
});

type Options = Parameters<typeof protect>[0];
interface Shop extends AsyncDisposable {
  readonly baseUrl: string;
}
const listening = async (server: ReturnType<typeof createServer>): Promise<Shop> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
const shops: readonly [string, (options: Options) => Promise<Shop>][] = [
  [
    'Express',
    (options) => {
      const app = express();
      app.post('/orders', expressGuard(options as never), (_request, response) => {
        response.json({ ok: true });
      });
      return listening(createServer(app));
    },
  ],
  [
    'Fastify',
    async (options) => {
      const app = fastify();
      app.post('/orders', { preHandler: fastifyGuard(options as never) }, () => ({ ok: true }));
      const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
      return { baseUrl, [Symbol.asyncDispose]: () => app.close() };
    },
  ],
  [
    'fetch',
    (options) => {
      const handle = protect(options, () => Response.json({ ok: true }));
      return listening(
        createServer(async ({ url = '', headers }, response) => {
          const given = new Headers(headers as Record<string, string>);
          const answer = await handle(new Request(`${ORIGIN}${url}`, { method: 'POST', headers: given }));
          response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
        }),
      );
    },
  ],
];

describe.each(shops)('a shop on %s that requires a signature', (_, start) => {
  it('serves an Agent that signs, and answers 403 to one that does not without asking the service', async () => {
    await using service = await startServer(serviceScript());
    const verifier = createVerifier({
      ...{ baseUrl: service.baseUrl, apiKey: 'dk_rp_test', serviceDid: SERVICE, relyingParty: SHOP, now },
    });
    const options = { verifier, origin: ORIGIN, action: () => order, signature: sameKey({ now }) };
    await using shop = await start(options as Options);
    const send = async (signed: boolean) => {
      const local = (request: string | URL | Request) => {
        const { url, method, headers } = request as Request;
        return fetch(url.replace(ORIGIN, shop.baseUrl), { method, headers });
      };
      const agentFetch = createAgentFetch({
        ...{ agent, grant, audience: SHOP, action: order, now, fetch: local as typeof fetch },
        ...(signed ? { signature: createRequestSigner({ signatureAgent: 'https://agent.example' }) } : {}),
      });
      const answer = await agentFetch(`${ORIGIN}/orders?draft=1`, { method: 'POST' });
      return {
        status: answer.status,
        accepts: answer.headers.get('accept-signature'),
        body: await answer.json(),
      };
    };
    expect(await send(false)).toEqual({
      status: 403,
      accepts: 'sig=("@authority" "svc-proof");created;expires;keyid;tag="web-bot-auth"',
      body: {
        error: 'FORBIDDEN',
        reason: 'SIGNATURE_REQUIRED',
        message:
          'the request must be signed by the key of its Proof: there is no Signature and Signature-Input',
      },
    });
    expect(service.received.filter(({ path }) => path === '/verify')).toEqual([]);
    expect(await send(true)).toMatchObject({ status: 200, body: { ok: true } });
  });
});
