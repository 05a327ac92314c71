import { nativeCrypto } from '@svc/protocol/native';
import { buildWorld, receiptSigner, serviceDocument } from '@svc/testkit/receipts/world';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryWorld } from '../../test/arbitrary-world.ts';
import { receiptTextOf, verifyReceipt } from '../index.ts';

const worlds = [
  await buildWorld(),
  await buildWorld({ revoked: true }),
  await buildWorld({ grant: { id: 'x' } }),
];
const anyText = fc.constantFrom(...worlds.map(({ signed }) => signed.text));

const verifies = (receipt: unknown): boolean =>
  verifyReceipt(receipt, serviceDocument, { crypto: nativeCrypto }).ok;

type Container = Record<string, unknown> | unknown[];
interface Place {
  readonly container: Container;
  readonly name: string;
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

const listPlaces = (container: Container): Place[] =>
  Object.entries(container).flatMap(([name, value]) => [
    { container, name },
    ...(isContainer(value) ? listPlaces(value) : []),
  ]);

/** A Receipt, and one of its places. */
const pick = (text: string, index: number): { receipt: Container; place: Place } => {
  const receipt: Container = JSON.parse(text);
  const places = listPlaces(receipt);
  const place = places[index % places.length];
  if (place === undefined) throw new Error('a Receipt has places');
  return { receipt, place };
};

describe('verifyReceipt refuses a Receipt', () => {
  it('with another value in any place', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.nat(),
        fc.oneof(fc.jsonValue(), fc.boolean(), fc.constant('skipped')),
        (text, n, value) => {
          const { receipt, place } = pick(text, n);
          const before: unknown = Reflect.get(place.container, place.name);
          fc.pre(JSON.stringify(before) !== JSON.stringify(value));
          Reflect.set(place.container, place.name, value);
          expect(verifies(receipt)).toBe(false);
          expect(verifies(JSON.stringify(receipt))).toBe(false);
        },
      ),
      { numRuns: sampled({ quick: 120, deep: 1_000 }) },
    );
  });

  it('with any place removed', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, n) => {
        const { receipt, place } = pick(text, n);
        if (Array.isArray(place.container)) place.container.splice(Number(place.name), 1);
        else delete place.container[place.name];
        expect(verifies(receipt)).toBe(false);
      }),
      { numRuns: sampled({ quick: 50, deep: 500 }) },
    );
  });

  it('with any member added', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.string(), fc.jsonValue(), (text, n, name, value) => {
        const { receipt, place } = pick(text, n);
        fc.pre(!Object.hasOwn(place.container, name) && !Array.isArray(place.container));
        Object.defineProperty(place.container, name, { value, enumerable: true });
        expect(verifies(receipt)).toBe(false);
      }),
      { numRuns: sampled({ quick: 50, deep: 500 }) },
    );
  });

  it('with any bit of its text flipped', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(6), (text, n, bit) => {
        const at = n % text.length;
        const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
        expect(verifies(text.slice(0, at) + flipped + text.slice(at + 1))).toBe(false);
      }),
      { numRuns: sampled({ quick: 120, deep: 2_000 }) },
    );
  });

  it('with any bit of its JWS flipped, even if its text is rebuilt from the JWS', () => {
    fc.assert(
      fc.property(fc.constantFrom(...worlds), fc.nat(), fc.nat(6), ({ signed: { jws } }, n, bit) => {
        const at = n % jws.length;
        const flipped =
          jws.slice(0, at) + String.fromCharCode(jws.charCodeAt(at) ^ (1 << bit)) + jws.slice(at + 1);
        expect(verifies(receiptTextOf(flipped) ?? '')).toBe(false);
      }),
      { numRuns: sampled({ quick: 120, deep: 1_000 }) },
    );
  });
});

describe('the Receipt of any decision', () => {
  it('is verified as text and as an object, and is restored from its JWS', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryWorld, async (pending) => {
        const { signed, body } = await pending;
        const receipt = { ...body, receipt: signed.jws };
        const expected = { ok: true, receipt, decision: body.decision, kid: receiptSigner.kid };
        const options = { crypto: nativeCrypto };
        expect(verifyReceipt(signed.text, serviceDocument, options)).toEqual(expected);
        expect(verifyReceipt(JSON.parse(signed.text), serviceDocument, options)).toEqual(expected);
        expect(receiptTextOf(signed.jws)).toBe(signed.text);
      }),
      { numRuns: sampled({ quick: 50, deep: 500 }) },
    );
  });
});
