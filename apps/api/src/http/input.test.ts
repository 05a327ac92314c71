import { describe, expect, it } from 'vitest';
import { exampleBody, examplePath, startService, TOKENS } from '../../test/world/http-fixture.ts';
import { ApiError } from './api-error.ts';

describe('POST /verify over HTTP', () => {
  const verify = { token: TOKENS.rp, body: exampleBody('verify') };

  it('answers the same with and without a question mark behind the path', async () => {
    const { call } = await startService();
    const headers = { 'x-request-id': 'same' };
    const fast = await call('POST', '/verify', { ...verify, headers });
    const routed = await call('POST', '/verify?', { ...verify, headers });
    expect(routed.status).toBe(200);
    expect(routed.text).toBe(fast.text);
    const namesOf = (answer: typeof fast) => [...answer.headers.keys()].sort();
    expect(namesOf(routed)).toEqual(namesOf(fast));
  });

  it.each([
    [401, {}],
    [401, { token: 'dk_rp_nobody', body: {} }],
    [401, { token: TOKENS.principal, body: {} }],
    [400, { token: TOKENS.rp, rawBody: '{"grant":' }],
    [400, { token: TOKENS.rp, body: { grant: '', proof: '' } }],
    [413, { token: TOKENS.rp, rawBody: 'x'.repeat(65_537) }],
  ])('refuses with %d, with a question mark behind the path or without: %o', async (status, options) => {
    const { call } = await startService();
    const fast = await call('POST', '/verify', options);
    const routed = await call('POST', '/verify?', options);
    expect([fast.status, fast.text]).toEqual([status, routed.text]);
  });

  it('passes the action unchanged, the text as received and the Idempotency-Key to the handler', async () => {
    const seen: unknown[] = [];
    const { call } = await startService({
      handlers: {
        verify: async (context) => {
          seen.push(
            context.body.action,
            context.bodyText,
            context.headers['idempotency-key'],
            context.caller.class,
          );
          return { status: 200, rawBody: '{}' };
        },
      },
    });
    const rawBody = '{ "grant":"", "proof":"", "action":{"b":1,"__proto__":{"a":1}} }';
    await expect(
      call('POST', '/verify', { token: TOKENS.rp, rawBody, headers: { 'idempotency-key': 'a_B-9' } }),
    ).rejects.toThrow('200');
    expect(JSON.stringify(seen[0])).toBe('{"b":1,"__proto__":{"a":1}}');
    expect(seen.slice(1)).toEqual([rawBody, 'a_B-9', 'rp']);
  });

  it.each(['', ' ', 'a b', 'ü', 'a'.repeat(65), 'a,b'])(
    'refuses the Idempotency-Key %j with a 400 that names it',
    async (value) => {
      const { call } = await startService();
      const { status, json } = await call('POST', '/verify', {
        ...verify,
        headers: { 'idempotency-key': value },
      });
      expect(status).toBe(400);
      expect(json.message).toContain('Header idempotency-key must be 1 to 64');
    },
  );
});

describe('A request body', () => {
  const post = async (rawBody: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { call } = await startService();
    return call('POST', '/grants', { token: TOKENS.principal, rawBody, headers });
  };

  it.each([
    ['no JSON', 'agent=x', 'strict JSON'],
    ['nothing', '', 'empty'],
    ['a duplicate member', '{"agent":"a","agent":"b"}', 'duplicate member in body.agent at character 13.'],
    ['a fraction', '{"a":{"b":[1,2.5]}}', 'number not an integer in body.a.b[1] at character 13.'],
    ['a byte-order mark', '\ufeff{}', 'strict JSON'],
    ['a lone surrogate', '{"agent":"\\ud800"}', 'strict JSON'],
    ['U+0000', '{"agent":"\\u0000"}', 'strict JSON'],
    ['depth', '['.repeat(40) + ']'.repeat(40), 'strict JSON'],
    ['another shape', '[]', 'The body must be a JSON object; got an array of 0.'],
    [
      'an unknown member',
      '{"agent":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK","x":1}',
      'body.x is not known here',
    ],
    [
      'an unknown __proto__',
      '{"agent":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK","__proto__":1}',
      'body.__proto__ is not known here',
    ],
    ['a missing member', '{}', 'body.agent is missing: it must be an Ed25519 did:key'],
    [
      'a wrong type',
      '{"agent":5}',
      'body.agent must be an Ed25519 did:key: did:key:z6Mk and 44 base58 characters; got 5',
    ],
  ])('with %s is a 400 that says so', async (_name, rawBody, message) => {
    const { status, json } = await post(rawBody);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(message);
  });

  it('that is not UTF-8 is a 400', async () => {
    expect((await post(new Uint8Array([0x7b, 0xff, 0x7d]))).json.message).toContain('UTF-8');
  });

  it('with a Content-Encoding is a 400, except identity', async () => {
    expect((await post('{}', { 'content-encoding': 'gzip' })).json.message).toContain('Content-Encoding');
    expect((await post('{}', { 'content-encoding': 'identity' })).json.message).toContain('agent is missing');
  });

  it('of 65,536 bytes is read, one of 65,537 is a 413', async () => {
    const { call } = await startService();
    const sized = (bytes: number) => `{"agent":"${'a'.repeat(bytes - 12)}"}`;
    const send = (bytes: number) =>
      call('POST', '/grants', { token: TOKENS.principal, rawBody: sized(bytes) });
    expect((await send(65_536)).status).toBe(400);
    const over = await send(65_537);
    expect([over.status, over.json.error]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('sent in chunks beyond the limit is a 413', async () => {
    const { raw } = await startService();
    const chunk = `8000\r\n${'a'.repeat(0x8000)}\r\n`;
    const head = `POST /grants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${TOKENS.principal}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(head, chunk, chunk, chunk, '0\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('with a wrong union or number is a 400 that names the field, what is allowed and what was sent', async () => {
    const { call } = await startService();
    const messageOf = async (body: unknown) =>
      (await call('POST', '/relying-parties', { token: TOKENS.admin, body })).json.message;
    expect(await messageOf({ kind: 'other' })).toBe('body.kind must be "managed" or "hosted"; got "other".');
    expect(await messageOf({ slug: 'a' })).toBe('body.kind is missing: it must be "managed" or "hosted".');
    expect(await messageOf({ kind: 'managed', slug: 'a', proof_window_seconds: 301 })).toBe(
      'body.proof_window_seconds must be an integer from 1 to 300; got 301.',
    );
    expect(await messageOf({ kind: 'managed', slug: 'a', proof_window_seconds: '60' })).toBe(
      'body.proof_window_seconds must be an integer from 1 to 300; got "60".',
    );
    expect(await messageOf({ kind: 'managed', slug: 'A' })).toContain(
      'body.slug must be a lower-case DNS label',
    );
    expect(await messageOf({ kind: 'managed', slug: 'a', did: 'did:web:x' })).toBe(
      'body.did is not known here (known: kind, slug, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id).',
    );
  });
});

describe('The envelope of POST /verify', () => {
  it.each([
    ['{"grant":', 'unexpected end at character 9.'],
    ['{"a":1.5,,}', 'it does not parse.'],
    ['{"grant":"","proof":"","proof":"","action":{}}', 'the member "proof" stands twice.'],
  ])('%s is refused with a 400 that says what is wrong', async (rawBody, problem) => {
    const { call } = await startService();
    const { status, json } = await call('POST', '/verify', { token: TOKENS.rp, rawBody });
    expect([status, json.message]).toEqual([
      400,
      `The body is not a JSON object of this request: ${problem}`,
    ]);
  });
});

describe('A DID in a path', () => {
  const get = async (did: string, message = 'No such relying party') => {
    const getRelyingParty = async () => {
      throw new ApiError('NOT_FOUND', message);
    };
    const { call } = await startService({ handlers: { getRelyingParty } });
    return (await call('GET', `/relying-parties/${did}`, { token: TOKENS.admin })).json.message;
  };

  it('whose port lost its escape to URL decoding is a 404 with a hint', async () => {
    const hinted = 'No such relying party. A % inside a DID is sent as %25.';
    expect(await get('did:web:localhost%3A8080:rp:shop')).toBe(hinted);
    expect(await get('did:web:localhost%3A8080')).toBe(hinted);
  });

  it('that is escaped correctly, or has no port, is a 404 without the hint', async () => {
    expect(await get('did:web:localhost%253A8080:rp:shop')).toBe('No such relying party.');
    expect(await get('did:web:shop.example:rp:80a')).toBe('No such relying party.');
  });
});

describe('Parameters', () => {
  it('reach the handler parsed and with defaults', async () => {
    const seen: unknown[] = [];
    const { call } = await startService({
      handlers: {
        listGrants: async ({ query }) => {
          seen.push({ ...query });
          return { status: 200, body: { grants: [], next_cursor: null } };
        },
        getRelyingParty: async ({ params }) => {
          seen.push(params.did);
          throw new ApiError('NOT_FOUND', 'no');
        },
      },
    });
    await call('GET', '/grants?state=active&limit=7', { token: TOKENS.principal });
    await call('GET', '/grants', { token: TOKENS.principal });
    await call('GET', examplePath('getRelyingParty'), { token: TOKENS.admin });
    expect(seen).toEqual([{ state: 'active', limit: 7 }, { limit: 50 }, 'did:web:localhost%3A8080:rp:shop']);
  });

  it.each([
    ['limit=0', 'Query parameter limit must be an integer from 1 to 200; got 0'],
    ['limit=201', 'limit must be an integer from 1 to 200'],
    ['limit=1&limit=2', 'Query parameter "limit" is given twice'],
    ['state=gone', 'Query parameter state must be "active" or "revoked"; got "gone"'],
    ['agent=me', 'Query parameter agent must be an Ed25519 did:key'],
    ['cursor=', 'Query parameter cursor must be the next_cursor'],
    ['state=%zz', 'not well percent-encoded'],
    ['cursor=a%00b', 'control character'],
    [
      '__proto__=1',
      'Query parameter __proto__ is not known here (known: principal, agent, state, limit, cursor).',
    ],
  ])('of GET /grants?%s are a 400 that says what is wrong', async (query, message) => {
    const { call } = await startService();
    const { status, json } = await call('GET', `/grants?${query}`, { token: TOKENS.principal });
    expect(status).toBe(400);
    expect(json.message).toContain(message);
  });

  it('beyond 64 in a query are a 400, and none of them is parsed', async () => {
    const { call } = await startService();
    const messageOf = async (count: number) => {
      const query = Array.from({ length: count }, (_, i) => `%zz${i}`).join('&&');
      const { status, json } = await call('GET', `/grants?${query}`, { token: TOKENS.principal });
      expect(status).toBe(400);
      return json.message;
    };
    expect(await messageOf(64)).toContain('not well percent-encoded');
    expect(await messageOf(65)).toContain('has more than 64 parameters');
  });

  it('in a path that are malformed are a 404 that says what is right; a broken escape is a 400', async () => {
    const { call } = await startService();
    const { status, json } = await call('GET', '/decisions/drc_1', { token: TOKENS.rp });
    expect([status, json.message]).toEqual([
      404,
      'Path parameter receipt_id must be a Receipt id: drc_ and a ULID; got "drc_1".',
    ]);
    expect((await call('GET', '/evidence/%zz')).status).toBe(400);
  });
});
