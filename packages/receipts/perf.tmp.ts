import { decodeBase64url, encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { receiptTextOf, verifyReceipt } from './src/index.ts';
import { checkServiceSignature, parseServiceDocument } from './src/service-document.ts';
import { checkConsistency } from './src/verify/consistency.ts';
import { readPresented } from './src/verify/presented.ts';
import { readKid, readPayload, splitReceiptJws } from './src/verify/receipt-jws.ts';
import { RECEIPT_BODY_SHAPE } from './src/verify/receipt-shape.ts';
import { checkShape } from './src/verify/shape.ts';
import { buildWorld, publicKeyOf, serviceDocument } from './test/world.ts';

const w = await buildWorld();
const { jws, text } = w.signed;
const obj = JSON.parse(text);
const docText = JSON.stringify(serviceDocument);
console.log(
  verifyReceipt(text, serviceDocument, { crypto: nativeCrypto }).ok,
  verifyReceipt(obj, docText).ok,
  receiptTextOf(jws) === text,
  JSON.stringify(verifyReceipt(obj, docText)).slice(0, 400),
  text.length,
);
const pub = publicKeyOf(1);
const si = jws.slice(0, jws.lastIndexOf('.'));
const sg = decodeBase64url(jws.slice(jws.lastIndexOf('.') + 1))!;
const N = 4000;
const once = (f: () => unknown) => { const t = process.cpuUsage(); for (let i = 0; i < N; i++) f(); const d = process.cpuUsage(t); return (d.user + d.system) / N; };
const runs: Record<string, () => unknown> = {
  bare: () => nativeCrypto.verify(pub, si, sg),
  text: () => verifyReceipt(text, docText, { crypto: nativeCrypto }),
  object: () => verifyReceipt(obj, serviceDocument, { crypto: nativeCrypto }),
};
const res: Record<string, number[]> = {};
for (let r = 0; r < 21; r++) for (const [n, f] of Object.entries(runs)) (res[n] ??= []).push(once(f));
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!;
for (const n in res)
  console.log(
    n.padEnd(8),
    med(res[n]!).toFixed(1),
    'µs',
    'ratio',
    (med(res.bare!) / med(res[n]!)).toFixed(3),
  );
const body = JSON.parse(w.signed.text);
delete body.receipt;
const parts = splitReceiptJws(jws)!;
const doc = parseServiceDocument(docText, [])!;
for (const [n, f] of Object.entries({
  presented: () => readPresented(text, []),
  presentedObj: () => readPresented(obj, []),
  split: () => splitReceiptJws(jws),
  payload: () => readPayload(parts.payloadText, []),
  kid: () => readKid(parts.headerText, []),
  shape: () => checkShape(body, RECEIPT_BODY_SHAPE, '', []),
  cons: () => checkConsistency(body, []),
  doc: () => parseServiceDocument(docText, []),
  sig: () =>
    checkServiceSignature(
      doc,
      'receipt',
      { ...parts, kid: doc.did + '#receipt-2' },
      { ...nativeCrypto, verify: () => true },
    ),
})) {
  once(f);
  once(f);
  console.log(n.padEnd(12), Math.min(once(f), once(f), once(f)).toFixed(2));
}
