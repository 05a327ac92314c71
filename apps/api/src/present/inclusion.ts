/** InclusionProof and InclusionPending (interface §Transparency). */
import type { ReceiptId } from '@svc/protocol';
import type { InclusionAnswer } from '@svc/service';

export const presentInclusion = (
  receiptId: ReceiptId,
  { checkpoint, leaf, leafIndex, auditPath }: Extract<InclusionAnswer, { readonly kind: 'proven' }>,
) => ({
  receipt_id: receiptId,
  day: checkpoint.day,
  leaf,
  leaf_index: leafIndex,
  tree_size: checkpoint.treeSize,
  root: checkpoint.root,
  audit_path: [...auditPath],
  checkpoint: checkpoint.jws,
  kid: checkpoint.kid,
});

export const presentPending = (receiptId: ReceiptId, day: string) => ({
  receipt_id: receiptId,
  day,
  status: 'pending' as const,
});
