import { parseCompactJws, parseDidKey, portableCrypto } from '@svc/codec';
import { type Action, parseProof } from '@svc/protocol';
import { type Received, startServer } from '@svc/testkit/sdk/scripted-server';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentFromJwk, createAgentFetch, signProof } from '../src/agent.ts';
import { createPrincipalClient, purchase } from '../src/index.ts';
import { agent, agentJwk, allocation, created, GRANT_ID, NOW_MS, SHOP, signer, testJwk } from './fixtures.ts';

const action: Action = { type: 'commerce:purchase', resource: 'order/1', amount: 42_700, currency: 'USD' };
const request = {
  agent,
  grantId: GRANT_ID,
  audience: SHOP,
  method: 'POST',
  url: 'HTTPS://Shop.Example:443/a/../orders/%7ejoe?draft=1#top',
  action,
  now: () => NOW_MS,
};

describe('a Proof', () => {
  it('binds the Grant, the relying party, the request and the Action, and verifies under the did:key', async () => {
    const text = await signProof({ ...request, jti: 'abcdefghijklmnopqrstuv' });
    const jws = parseCompactJws(text, 8_192);
    if (!jws.ok) throw new Error(jws.problem);
    expect(jws.header).toEqual({ alg: 'EdDSA', kid: agent.kid, typ: 'svc-proof+jwt' });
    expect(jws.payload).toEqual({
      iss: agent.did,
      aud: SHOP,
      grant_id: GRANT_ID,
      htm: 'POST',
      htu: 'https://shop.example/orders/~joe',
      action,
      iat: Math.floor(NOW_MS / 1000),
      jti: 'abcdefghijklmnopqrstuv',
    });
    const key = parseDidKey(agent.did);
    expect(key && portableCrypto.verify(key.publicKey, jws.signingInput, jws.signature)).toBe(true);
  });

  it('has a different nonce each time', async () => {
    const proofs = await Promise.all(Array.from({ length: 50 }, () => signProof(request)));
    const nonces = proofs.map((proof) => {
      const parsed = parseProof(proof);
      return parsed.ok ? parsed.value.jti : null;
    });
    expect(nonces).not.toContain(null);
    expect(new Set(nonces).size).toBe(50);
  });

  const call: Action = { type: 'api:call', method: 'POST', resource: 'https://shop.example/orders/~joe' };
  it('of an api:call must name the method and the URL of the Action', async () => {
    expect(parseProof(await signProof({ ...request, action: call }))).toMatchObject({ ok: true });
    for (const change of [{ method: 'PUT' }, { url: 'https://shop.example/orders' }]) {
      await expect(signProof({ ...request, action: call, ...change })).rejects.toMatchObject({
        kind: 'invalid-argument',
      });
    }
  });

  it.each<[string, object]>([
    ['a relative URL', { url: '/orders' }],
    ['a URL with user info', { url: 'https://u@shop.example/' }],
    ['a URL with a backslash', { url: 'https://shop.example\\@evil.example/' }],
    ['a method in lower case', { method: 'post' }],
    ['an audience that is no did:web', { audience: 'shop.example' }],
    ['something else than a Grant id', { grantId: 'grant-1' }],
    ['a short nonce', { jti: 'short' }],
    ['a nonce with a dot', { jti: 'abcdefghijklmnopqrstu.v' }],
    ['a fractional amount', { action: { ...action, amount: 0.5 } }],
    ['an Action with a further member', { action: { ...action, note: '' } }],
  ])('is not signed for %s', async (_, change) => {
    await expect(signProof({ ...request, ...change })).rejects.toMatchObject({ kind: 'invalid-argument' });
  });

  it.each<[string, object, RegExp]>([
    ['no Agent', { agent: undefined }, /agent must be an Agent \{ did, kid, sign \}.* given nothing/],
    ['a DID as Agent', { agent: agent.did }, /agent must be .* given a string/],
    ['a JWK as Agent', { agent: agentJwk }, /agent must be .* given an object/],
    ['no Grant id', { grantId: undefined }, /grantId must be the Grant's id.* given nothing/],
    ['no audience', { audience: undefined }, /audience must be the did:web DID.* given nothing/],
    ['two audiences', { audience: [SHOP, SHOP] }, /audience must be .* given an array of 2/],
    ['a method in lower case', { method: 'post' }, /method must be .*upper-case.*"POST"/],
    ['a URL object', { url: new URL('https://shop.example') }, /url must be .* given an object/],
    ['no Action', { action: undefined }, /action must be .* given nothing/],
    ['a clock that gives no number', { now: () => Number.NaN }, /now must give milliseconds/],
    ['an unknown option', { nonce: 'x' }, /no option "nonce".*jti/],
  ])('with %s is refused, and the error says what is expected', async (_, change, message) => {
    const refused = { kind: 'invalid-argument', message: expect.stringMatching(message) };
    await expect(signProof({ ...request, ...change })).rejects.toMatchObject(refused);
  });

  it('is not signed without a request', async () => {
    const sign = signProof as (request?: unknown) => Promise<string>;
    await expect(sign()).rejects.toMatchObject({ kind: 'invalid-argument' });
  });
});

describe("an Agent's fetch", () => {
  let grant = '';
  beforeAll(async () => {
    await using server = await startServer([created(allocation)]);
    const client = createPrincipalClient({
      ...{ baseUrl: server.baseUrl, apiKey: 'key', signer, now: () => NOW_MS },
    });
    const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD' })];
    grant = (await client.grants.issue({ agent: agent.did, audience: [SHOP], capabilities })).grant;
  });
  const options = () => ({ agent, grant, audience: SHOP, action });
  const proofOf = (received: Received | undefined) => {
    const parsed = parseProof(String(received?.headers['svc-proof']));
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.value;
  };

  it('sends the Grant and a new Proof with every call, also for a repeated Request', async () => {
    await using shop = await startServer([{ json: { ok: true } }]);
    const agentFetch = createAgentFetch(options());
    const order = new Request(`${shop.baseUrl}/orders?x=1`, {
      method: 'POST',
      body: '{"n":1}',
      headers: { a: 'b' },
    });
    for (const one of [order.clone(), order])
      expect(await (await agentFetch(one)).json()).toEqual({ ok: true });
    const [first, second] = shop.received;
    expect(shop.received).toHaveLength(2);
    expect(first).toMatchObject({ method: 'POST', path: '/orders?x=1', body: '{"n":1}' });
    expect(first?.headers).toMatchObject({ a: 'b', 'svc-grant': grant });
    expect(proofOf(first)).toMatchObject({ grantId: GRANT_ID, audience: SHOP, htm: 'POST' });
    expect(proofOf(first).normalizedHtu).toBe(`${shop.baseUrl}/orders`);
    expect(proofOf(first).jti).not.toBe(proofOf(second).jti);
  });

  it('replaces the svc-grant and svc-proof headers that a caller sets', async () => {
    await using shop = await startServer([{}]);
    await createAgentFetch(options())(shop.baseUrl, { headers: { 'svc-grant': 'x', 'Svc-Proof': 'y' } });
    expect(shop.received[0]?.headers['svc-grant']).toBe(grant);
    expect(proofOf(shop.received[0]).htm).toBe('GET');
  });

  it('lets `action` read the Action from the request, body included', async () => {
    await using shop = await startServer([{}]);
    const describeOrder = async (request: Request): Promise<Action> => {
      const { amount } = (await request.json()) as { amount: number };
      return { ...action, amount };
    };
    const agentFetch = createAgentFetch({ ...options(), action: describeOrder });
    await agentFetch(shop.baseUrl, { method: 'PUT', body: '{"amount":7}' });
    expect(shop.received[0]?.body).toBe('{"amount":7}');
    expect(proofOf(shop.received[0]).action).toEqual({ ...action, amount: 7 });
  });

  it('keeps no copy of a body for an `action` that does not read it', async () => {
    const copies: Request[] = [];
    const sent: number[] = [];
    const agentFetch = createAgentFetch({
      ...options(),
      action: (copy) => {
        copies.push(copy);
        return action;
      },
      fetch: (async (request: Request) => {
        sent.push((await request.arrayBuffer()).byteLength);
        return new Response();
      }) as typeof fetch,
    });
    let left = 64;
    const body = new ReadableStream<Uint8Array>({
      pull(to) {
        if (left-- > 0) to.enqueue(new Uint8Array(65_536));
        else to.close();
      },
    });
    const init = { method: 'PUT', body, duplex: 'half' as const };
    await agentFetch(new Request('https://shop.example/', init));
    expect(sent).toEqual([64 * 65_536]);
    // What can still be read from the copy was buffered.
    expect(await copies[0]?.body?.getReader().read()).toEqual({ done: true, value: undefined });
  });

  it('follows no redirect, so no other host gets the Grant and the Proof', async () => {
    await using elsewhere = await startServer([{}]);
    for (const status of [301, 302, 303, 307, 308]) {
      await using shop = await startServer([{ status, headers: { location: elsewhere.baseUrl } }]);
      const agentFetch = createAgentFetch(options());
      const refused = { kind: 'redirect-refused', status };
      await expect(agentFetch(shop.baseUrl)).rejects.toMatchObject({ ...refused, helpUrl: null });
      const told = createAgentFetch({ ...options(), baseUrl: 'https://svc.example' });
      const helpUrl = 'https://svc.example/guide/kinds/redirect-refused';
      await expect(told(shop.baseUrl)).rejects.toMatchObject({ ...refused, helpUrl });
      expect((await agentFetch(shop.baseUrl, { redirect: 'manual' })).status).toBe(status);
    }
    expect(elsewhere.received).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown option', { headers: {} }, /no option "headers"/],
    ['an issued Grant as an object', { grant: { grant: 'x' } }, /grant must be .*string; given an object/],
    ['no Agent', { agent: undefined }, /agent must be/],
    ['a list of audiences', { audience: [SHOP] }, /audience must be/],
    ['no Action', { action: undefined }, /action must be .* given nothing/],
    ['an Action of another form', { action: { ...action, amount: 0.5 } }, /action.amount/],
  ])('cannot be made with %s', (_, change, message) => {
    expect(() => createAgentFetch({ ...options(), ...change })).toThrow(
      expect.objectContaining({ kind: 'invalid-argument', message: expect.stringMatching(message) }),
    );
  });

  it('sends the Action as it was when the fetch was made', async () => {
    await using shop = await startServer([{}]);
    const own = { ...action };
    const agentFetch = createAgentFetch({ ...options(), action: own });
    own.amount = 1;
    await agentFetch(shop.baseUrl);
    expect(proofOf(shop.received[0]).action).toEqual(action);
  });

  it('cannot be made with a Grant for another Agent or relying party, or with a malformed Grant', () => {
    const refused = expect.objectContaining({ kind: 'invalid-argument' });
    expect(() => createAgentFetch({ ...options(), agent: agentFromJwk(testJwk('other')) })).toThrow(refused);
    expect(() => createAgentFetch({ ...options(), audience: 'did:web:other.example' })).toThrow(refused);
    expect(() => createAgentFetch({ ...options(), grant: `${grant}.` })).toThrow(refused);
  });
});
