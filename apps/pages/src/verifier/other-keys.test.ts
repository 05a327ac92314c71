import { forgedDocument, serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { expect, it } from 'vitest';
import { hasOtherKeys } from './other-keys.ts';

const own = JSON.stringify({
  ...serviceDocument,
  verificationMethod: serviceDocument.verificationMethod.map((one) => ({
    ...one,
    revoked: '2026-11-20T00:00:00Z',
  })),
});
const [receiptKey, statusKey] = JSON.parse(own).verificationMethod;
const changed = (change: object) => JSON.stringify({ ...JSON.parse(own), ...change });

it.each([
  ['another key under the same kid', JSON.stringify(forgedDocument)],
  [
    'a further key',
    changed({
      verificationMethod: [receiptKey, statusKey, { ...receiptKey, id: 'did:web:svc.test#receipt-2' }],
    }),
  ],
  ['a key that is not revoked in it', changed({ verificationMethod: serviceDocument.verificationMethod })],
  [
    'another purpose of a key',
    changed({ assertionMethod: [...serviceDocument.assertionMethod, 'did:web:svc.test#old-1'] }),
  ],
])('a document of the same service with %s has other keys', (_, given) =>
  expect(hasOtherKeys(given, own)).toBe(true),
);

it.each([
  [
    'the same document in another order',
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(own)).reverse()), null, 2),
  ],
  ['a document without a key that was added since', changed({ verificationMethod: [receiptKey] })],
  ['a document of another service', changed({ id: 'did:web:other.test', verificationMethod: [] })],
  ['a malformed document', '{"id":'],
])('%s has no other keys', (_, given) => expect(hasOtherKeys(given, own)).toBe(false));
