/** `GET /decisions/{receipt_id}/bundle`: one file that is checked offline (`svc-receipt verify --bundle`). */
import type { Routes } from '@svc/contract';
import { type EvidenceRecord, getBundle as get, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentCheckpoint } from '../../present/checkpoint.ts';
import { presentInclusion, presentPending } from '../../present/inclusion.ts';

export const getBundle =
  (deps: ServiceDeps): Handler<Routes['getBundle']> =>
  async ({ caller, params: { receipt_id }, query }) => {
    const answer = await get(deps, caller, receipt_id, query.rp);
    if (answer.kind === 'pending') return { status: 202, body: presentPending(receipt_id, answer.day) };
    const { receiptText, inclusion, didDocument, evidence } = answer;
    // The Receipt and the document stand in it as the texts that they are everywhere else.
    const members = [
      `"receipt":${receiptText}`,
      `"inclusion":${JSON.stringify(presentInclusion(receipt_id, inclusion))}`,
      `"checkpoint":${JSON.stringify(presentCheckpoint(deps.identity, inclusion.checkpoint))}`,
      `"did_document":${didDocument}`,
      `"evidence":${JSON.stringify(evidence.map(presentEvidence))}`,
    ];
    return {
      status: 200,
      rawBody: `{${members.join(',')}}`,
      headers: { 'Content-Disposition': `attachment; filename="${receipt_id}.bundle.json"` },
    };
  };

/** What is text travels as text; everything else in base64url. */
const presentEvidence = ({ hash, contentType, body }: EvidenceRecord) => {
  const bytes = Buffer.from(body);
  const text = bytes.toString('utf8');
  return {
    hash,
    content_type: contentType,
    body: Buffer.from(text).equals(bytes) ? text : bytes.toString('base64url'),
  };
};
