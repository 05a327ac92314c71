/**
 * A request for approval as an honest service answers it: the Proof that the Agent signed, and the Receipt of the
 * denial.
 */
import {
  type Action,
  capabilityForOnce,
  encodeUlid,
  normalizeHtu,
  portableCrypto,
  requestHashOf,
  sha256Of,
} from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { bodyOf, type Draft, serviceDocument, signedReceipt } from '../receipts/signed-receipts.ts';

export interface DeniedWorld {
  readonly principal: string;
  readonly relyingParty: string;
  readonly agent: string;
  readonly grantId: string;
  readonly action: Action;
  /** Signed by the Agent for a POST to `url`. */
  readonly proof: string;
  readonly url: string;
  /** Time of the denial and of the request. */
  readonly nowMs: number;
}

export interface DeniedRequest {
  /** An AccessRequest. */
  readonly request: Draft;
  readonly receipt: Receipt;
  readonly didDocument: typeof serviceDocument;
}

export const REQUEST_ID = 'arq_01M7VZGC008Q2R7V9X1C4E6H8S';

/** `change`: alters what the service signs. */
export const deniedRequest = async (
  { principal, relyingParty, agent, grantId, action, proof, url, nowMs }: DeniedWorld,
  change: (body: Draft) => void = () => {},
): Promise<DeniedRequest> => {
  const normalizedHtu = normalizeHtu(url) ?? '';
  const htm = action.type === 'api:call' ? action.method : 'POST';
  const receipt = await signedReceipt(bodyOf('p19-one-over-ceiling'), (body) => {
    const laterMs = nowMs - Date.parse(body.evaluated_at);
    const { issuer_resolution: resolution, status } = body.evidence;
    const later = (at: string) => new Date(Date.parse(at) + laterMs).toISOString();
    body.receipt_id = `drc_${encodeUlid(nowMs, new Uint8Array(10).fill(7))}`;
    body.evaluated_at = later(body.evaluated_at);
    resolution.resolved_at = later(resolution.resolved_at);
    status.checked_at = later(status.checked_at);
    status.valid_from = later(status.valid_from).replace(/\.\d+/, '');
    body.principal.id = principal;
    resolution.did = principal;
    body.relying_party = relyingParty;
    body.agent = agent;
    body.grant_id = grantId;
    body.proof_hash = sha256Of(portableCrypto, proof);
    body.request_hash = requestHashOf(portableCrypto, { action, htm, normalizedHtu });
    change(body);
  });
  const at = (ms: number) => new Date(nowMs + ms).toISOString();
  const address = `https://svc.example/access/v1/requests/${REQUEST_ID}`;
  const request = {
    task: {
      id: REQUEST_ID,
      status: 'pending',
      status_endpoint: address,
      expires_at: at(900_000),
      links: { cancel: `${address}/cancel` },
    },
    relying_party: relyingParty,
    principal,
    grant_id: grantId,
    agent,
    action,
    capability: capabilityForOnce(action),
    receipt_id: receipt.receipt_id,
    proof,
    requested_at: at(0),
    decided_at: null,
    reason: null,
    result: null,
  };
  return { request, receipt, didDocument: serviceDocument };
};
