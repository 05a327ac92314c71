import { readdirSync, readFileSync } from 'node:fs';
import { nativeCrypto } from '@svc/protocol/native';
import { documentOf } from '@svc/testkit/receipts/world';
import { expect, it } from 'vitest';
import { receiptTextOf, verifyReceipt } from '../index.ts';

const folder = new URL('../../../../vectors/', import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, folder), 'utf8'));

const { keys }: { keys: { label: string; public_key_multibase: string }[] } = read('keys.json');
const service = documentOf('did:web:svc.example', { 'receipt-1': 1 });
const key = keys.find(({ label }) => label === 'service receipt 1')?.public_key_multibase;
const document = {
  ...service,
  verificationMethod: service.verificationMethod.map((method) => ({ ...method, publicKeyMultibase: key })),
};
const files = readdirSync(new URL('evaluate', folder));

it.each(files)('the published Receipt of %s is verified and has the published body', (file) => {
  const { body, receipt: jws, decision } = read(`evaluate/${file}`).expected;
  const verified = verifyReceipt(receiptTextOf(jws), document, { crypto: nativeCrypto });
  expect(verified).toEqual({
    ok: true,
    receipt: { ...body, receipt: jws },
    decision,
    kid: 'did:web:svc.example#receipt-1',
  });
});
