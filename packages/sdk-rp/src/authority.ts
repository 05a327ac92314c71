/** What an ALLOW gives to the handler of a request, or to a tool. */
import type { Capability } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';

/** What the handler can rely on. */
export interface SvcAuthority {
  /** The Capability that authorised this Action. */
  authority: Capability;
  /** The Receipt of this ALLOW, whose signature has been verified. */
  receipt: Receipt;
  /** The id of that Receipt, `drc_…`. */
  receiptId: string;
  /** did:key DID of the Agent that signed the Proof, as the Receipt has it. */
  agent: string | undefined;
  /** did:web DID of the Principal that issued the Grant, as the Receipt has it. */
  principal: string | undefined;
  /** The id of the Grant, `urn:svc:grant:…`, as the Receipt has it. */
  grantId: string | undefined;
}

export const authorityOf = (authority: Capability, receipt: Receipt): SvcAuthority => ({
  authority,
  receipt,
  receiptId: receipt.receipt_id,
  agent: receipt.agent,
  principal: receipt.principal?.id,
  grantId: receipt.grant_id,
});
