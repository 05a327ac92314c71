import { type JsonObject, jcs, type ReceiptBody } from '@svc/protocol';
import {
  buildWorld,
  publicKeyOf,
  receiptSigner,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { compactVerify, decodeProtectedHeader, importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { receiptTextOf, receiptTextOfStored, signReceipt, verifyReceipt } from './index.ts';

const { body, signed } = await buildWorld();

describe('a signed Receipt', () => {
  it('is its body with the JWS as the member receipt, in RFC 8785 form', () => {
    expect(signed.text).toBe(jcs({ ...body, receipt: signed.jws } as unknown as JsonObject));
  });

  it('has the RFC 8785 form of the body as JWS payload, and exactly alg, kid and typ as header', () => {
    const [header = '', payload = ''] = signed.jws.split('.');
    expect(Buffer.from(payload, 'base64url').toString()).toBe(jcs(body as unknown as JsonObject));
    expect(Buffer.from(header, 'base64url').toString()).toBe(
      `{"alg":"EdDSA","kid":"${receiptSigner.kid}","typ":"svc-receipt+jwt"}`,
    );
  });

  it('has identical bytes for the same body and key, for any order of members', async () => {
    const turned = Object.fromEntries(Object.entries(body).reverse()) as unknown as ReceiptBody;
    expect(await signReceipt(turned, receiptSigner)).toEqual(signed);
  });

  it('is restored from its JWS character by character', () => {
    expect(receiptTextOf(signed.jws)).toBe(signed.text);
    expect(receiptTextOfStored(signed.jws)).toBe(signed.text);
  });

  it.each([
    ['nothing', ''],
    ['two parts', signed.jws.slice(0, signed.jws.lastIndexOf('.'))],
    ['four parts', `${signed.jws}.e30`],
    ['padding', `${signed.jws}=`],
    ['another payload', 'e30.e30.e30'],
    ['a payload with white space', `e30.${Buffer.from('{"a": 1,"receipt_id":1}').toString('base64url')}.e30`],
    ['no text', undefined],
    ['an object', { jws: signed.jws }],
  ])('is not restored from %s', (_, jws) => {
    expect(receiptTextOf(jws as string)).toBeNull();
  });

  it('is verified by jose', async () => {
    const x = Buffer.from(publicKeyOf(1)).toString('base64url');
    const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
    const { payload } = await compactVerify(signed.jws, key, { algorithms: ['EdDSA'] });
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(body);
    expect(decodeProtectedHeader(signed.jws).kid).toBe(receiptSigner.kid);
  });

  it('is verified by verifyReceipt', () => {
    const receipt = { ...body, receipt: signed.jws };
    const expected = { ok: true, receipt, decision: 'ALLOW', kid: receiptSigner.kid };
    expect(verifyReceipt(signed.text, serviceDocument)).toEqual(expected);
    expect(verifyReceipt(JSON.parse(signed.text), JSON.stringify(serviceDocument))).toEqual(expected);
  });

  it.each([
    'did:web:svc.example#status-1',
    'did:web:svc.example#receipt-0',
    'did:web:svc.example',
    '#receipt-1',
  ])('is not made with the kid %s: signReceipt rejects with a RangeError', async (kid) => {
    await expect(signReceipt(body, signerOf(1, kid))).rejects.toThrow(RangeError);
  });

  it('is not made of a body without receipt_id: signReceipt rejects with a RangeError', async () => {
    const { receipt_id: _, ...rest } = body;
    await expect(signReceipt(rest as ReceiptBody, receiptSigner)).rejects.toThrow(RangeError);
  });
});
