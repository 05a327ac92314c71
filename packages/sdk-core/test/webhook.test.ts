/** Webhooks are accepted if a secret of the subscription or the service's key has signed these exact bytes recently. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { encodeMultikey } from '@svc/codec';
import type { EventData } from '@svc/contract';
import { eventData } from '@svc/contract';
import { Webhook } from 'standardwebhooks';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { SvcError, verifyWebhook, type WebhookEvent, type WebhookEventData } from '../src/index.ts';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const SECRET = secretOf(7);
const OTHER = secretOf(8);
const ID = 'evt_01M7VZGC008Q2R7V9X1C4E6H8K';
const NOW = 1_795_000_000_000;
const SUBSCRIPTION = 'whs_01M7VZGC008Q2R7V9X1C4E6H8R';
const EVENT = {
  type: 'grant.revoked',
  timestamp: '2026-11-20T08:00:00.000Z',
  subscription_id: SUBSCRIPTION,
  data: {
    grant_id: 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J',
    principal: 'did:web:ä.example',
    agent: 'did:key:z',
  },
};
const BODY = JSON.stringify(EVENT);
const signed = (secret = SECRET, at = NOW, body = BODY) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(Math.floor(at / 1000)),
  'webhook-signature': new Webhook(secret).sign(ID, new Date(at), body),
});
const requestOf = (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer> = BODY) =>
  new Request('https://shop.example/hooks', { method: 'POST', headers, body });
const options = { secret: SECRET, now: () => NOW };

const did = 'did:web:svc.example';
const statusKey = generateKeyPairSync('ed25519');
const documentWith = (more: object = {}, fragment = 'status-1') => {
  const { x } = statusKey.publicKey.export({ format: 'jwk' });
  const publicKeyMultibase = encodeMultikey(new Uint8Array(Buffer.from(x ?? '', 'base64url')));
  const id = `${did}#${fragment}`;
  const method = { id, type: 'Multikey', controller: did, publicKeyMultibase, ...more };
  return { id: did, verificationMethod: [method], assertionMethod: [id] };
};
const signedByService = (body = BODY) => {
  const headers = signed(OTHER, NOW, body);
  const text = `${ID}.${headers['webhook-timestamp']}.${body}`;
  const signature = sign(null, Buffer.from(text), statusKey.privateKey).toString('base64');
  return { ...headers, 'webhook-signature': `${headers['webhook-signature']} v1a,${signature}` };
};
const byDocument = { didDocument: documentWith(), subscriptionId: SUBSCRIPTION, now: () => NOW };

describe('an event that is signed with a secret of the subscription', () => {
  it('is accepted from a Request, or from headers and a body as text or bytes, with header names in any case', async () => {
    const headers = signed();
    const event = { id: ID, ...EVENT };
    expect(await verifyWebhook(requestOf(headers), options)).toEqual(event);
    expect(await verifyWebhook({ headers, body: BODY }, options)).toEqual(event);
    expect(await verifyWebhook({ headers: new Headers(headers), body: Buffer.from(BODY) }, options)).toEqual(
      event,
    );
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await verifyWebhook({ headers: upper, body: BODY }, options)).toEqual(event);
  });

  it('is accepted during a rotation, whichever of the two secrets signed it', async () => {
    const both = signed();
    both['webhook-signature'] = `${signed(OTHER)['webhook-signature']} ${both['webhook-signature']}`;
    expect(await verifyWebhook(requestOf(both), options)).toMatchObject({ id: ID });
    const secret = [OTHER, SECRET];
    expect(await verifyWebhook(requestOf(signed()), { ...options, secret })).toMatchObject({ id: ID });
  });

  it('is accepted up to the tolerance before or after, and refused beyond it', async () => {
    for (const away of [-300_000, 300_000])
      expect(await verifyWebhook(requestOf(signed(SECRET, NOW + away)), options)).toMatchObject({ id: ID });
    const narrow = { ...options, toleranceSeconds: 10 };
    await expect(verifyWebhook(requestOf(signed(SECRET, NOW - 11_000)), narrow)).rejects.toThrow('11 s away');
  });

  it('has a valid signature in the example of the Standard Webhooks libraries, whose body is no event', async () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const theirs = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', now: () => 1_614_265_330_000 };
    const body = '{"test": 2432232314}';
    await expect(verifyWebhook({ headers, body }, theirs)).rejects.toThrow('the body is no event');
    await expect(verifyWebhook({ headers, body: `${body} ` }, theirs)).rejects.toThrow('no signature');
  });
});

describe('an event that the service has signed', () => {
  it('is accepted with the DID document of the service, without a secret', async () => {
    expect(await verifyWebhook(requestOf(signedByService()), byDocument)).toEqual({ id: ID, ...EVENT });
  });

  it.each([
    ['was for another subscription', { ...byDocument, subscriptionId: 'whs_other' }, 'another subscription'],
    [
      'is under a key for Receipts',
      { ...byDocument, didDocument: documentWith({}, 'receipt-1') },
      'no signature',
    ],
    [
      'is under a key that was retired before',
      { ...byDocument, didDocument: documentWith({ 'svc:validUntil': '2026-01-01T00:00:00Z' }) },
      'no signature',
    ],
    [
      'is under a key of another document',
      { ...byDocument, didDocument: { ...documentWith(), assertionMethod: [] } },
      'no signature',
    ],
  ])('is refused where it %s', async (_, trust, message) => {
    await expect(verifyWebhook(requestOf(signedByService()), trust)).rejects.toMatchObject({
      kind: 'webhook-invalid',
      message: expect.stringContaining(message),
    });
  });

  it('is refused with a changed byte', async () => {
    const headers = signedByService();
    await expect(verifyWebhook({ headers, body: `${BODY} ` }, byDocument)).rejects.toThrow('no signature');
  });
});

describe('verifyWebhook refuses an event', () => {
  const lines = '\r\n';
  it.each([
    ['signed with another secret', signed(OTHER), BODY],
    ['with another body', signed(), `${BODY} `],
    ['with line ends added on the way', signed(), `${BODY}${lines}`],
    ['with a byte order mark', signed(), `\ufeff${BODY}`],
    ['serialised again by a JSON library', signed(), JSON.stringify(EVENT, null, 2)],
    ['with another id', { ...signed(), 'webhook-id': 'evt_other' }, BODY],
    ['with another time', { ...signed(), 'webhook-timestamp': String(NOW / 1000 - 1) }, BODY],
    ['from ten minutes ago', signed(SECRET, NOW - 600_000), BODY],
    ['dated ten minutes ahead', signed(SECRET, NOW + 600_000), BODY],
    ['with a malformed time', { ...signed(), 'webhook-timestamp': '1e9' }, BODY],
    ['without a signature', { ...signed(), 'webhook-signature': '' }, BODY],
    ['with a signature that is no base64', { ...signed(), 'webhook-signature': 'v1,*' }, BODY],
    [
      'with a v1a alone and no document',
      { ...signed(), 'webhook-signature': `v1a,${'A'.repeat(86)}==` },
      BODY,
    ],
    ['of 1 MB', signed(), 'x'.repeat(1_048_576)],
  ])('%s', async (_, headers, body) => {
    const refused = { kind: 'webhook-invalid' };
    await expect(verifyWebhook(requestOf(headers, body), options)).rejects.toMatchObject(refused);
    await expect(verifyWebhook({ headers, body }, options)).rejects.toMatchObject(refused);
    await expect(verifyWebhook({ headers, body: Buffer.from(body) }, options)).rejects.toMatchObject(refused);
  });

  it('with a full stop in its id', async () => {
    const id = `${ID}.1795000000`;
    const headers = { ...signed(), 'webhook-id': id };
    headers['webhook-signature'] = new Webhook(SECRET).sign(id, new Date(NOW), BODY);
    await expect(verifyWebhook(requestOf(headers), options)).rejects.toThrow('full stop');
  });

  it('with a duplicate header', async () => {
    const headers = { ...signed(), 'webhook-id': [ID, ID] };
    await expect(verifyWebhook({ headers, body: BODY }, options)).rejects.toThrow('stands more than once');
  });

  it('with bytes that are not UTF-8, although they decode to the signed text', async () => {
    const body = new Uint8Array([...Buffer.from(BODY), 0xff]);
    const headers = signed(SECRET, NOW, `${BODY}\ufffd`);
    await expect(verifyWebhook(requestOf(headers, body), options)).rejects.toThrow('not UTF-8');
  });
});

it.each([
  ['undefined, as Express 5 leaves it', undefined],
  ['null, as of a Request without one', null],
  ['{}, as Express 4 leaves it', {}],
])(
  'verifyWebhook refuses a body that no parser read as webhook-invalid, whatever the headers: %s',
  async (_, body) => {
    for (const headers of [signed(), { ...signed(), 'webhook-signature': 'v1,AAAA' }])
      await expect(verifyWebhook({ headers, body } as never, options)).rejects.toMatchObject({
        kind: 'webhook-invalid',
        message: expect.stringContaining('express.raw'),
      });
  },
);

describe('verifyWebhook reports as a configuration error', () => {
  it('a body that was already read, or that a parser has converted', async () => {
    const request = requestOf(signed());
    await request.text();
    const parsed = { headers: signed(), body: EVENT } as never;
    for (const given of [request, parsed])
      await expect(verifyWebhook(given, options)).rejects.toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining('express.raw'),
      });
  });

  it.each([
    ['a malformed secret', { secret: 'hunter2' }],
    ['no secret', { secret: [] }],
    ['an empty secret, as of a variable that is not set', { secret: '' }],
    ['three secrets', { secret: [SECRET, OTHER, SECRET] }],
    ['neither a secret nor a document', {}],
    ['a document without a subscription', { didDocument: documentWith() }],
    ['a malformed document', { didDocument: {}, subscriptionId: SUBSCRIPTION }],
    ['an unknown option', { secret: SECRET, tolerance: 1 } as never],
  ])('%s, without showing the secret', async (_, given) => {
    const error = await verifyWebhook(requestOf(signed()), given).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ kind: 'configuration' });
    expect(String(error)).not.toContain('hunter2');
  });
});

it('every event type of the contract has its data type, and there is no other', () => {
  expectTypeOf<keyof WebhookEventData>().toEqualTypeOf<keyof EventData>();
  expectTypeOf<EventData>().toExtend<WebhookEventData>();
  expectTypeOf<Extract<WebhookEvent, { type: 'budget.low' }>['data']['percent']>().toEqualTypeOf<number>();
  expect(Object.keys(eventData)).toContain('ping');
});
