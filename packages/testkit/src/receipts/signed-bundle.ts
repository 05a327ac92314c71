/** A whole bundle for the tests of the verifier, with a Receipt of the world that the tests of Receipts use. */

import { signDay } from './signed-days.ts';
import { buildWorld, SERVICE, serviceDocument, statusSigner } from './world.ts';

export { serviceDocument } from './world.ts';

const MIDNIGHT_MS = Date.UTC(2026, 10, 20);

export const signedBundle = async () => {
  const { signed, body, evidence } = await buildWorld();
  const others = ['0', '1', '2'].map((end) => body.receipt_id.replace(/.$/, end));
  const receiptIds = [...new Set([...others, body.receipt_id])].sort();
  const { day } = await signDay(MIDNIGHT_MS, receiptIds, new Uint8Array(32), {
    serviceDid: SERVICE,
    signer: statusSigner,
  });
  return {
    receipt: JSON.parse(signed.text),
    inclusion: day.proofOf(body.receipt_id),
    checkpoint: day.record,
    did_document: serviceDocument,
    evidence: [...evidence].map(([hash, text]) => ({ hash, content_type: 'text/plain', body: text })),
  };
};
