/** Checkpoint (interface §Transparency). */
import { formatTimestamp } from '@svc/protocol';
import type { CheckpointRecord, ServiceIdentity } from '@svc/service';

export const presentCheckpoint = ({ baseUrl }: ServiceIdentity, record: CheckpointRecord) => ({
  day: record.day,
  tree_size: record.treeSize,
  root: record.root,
  previous_root: record.previousRoot,
  first_receipt_id: record.firstReceiptId,
  last_receipt_id: record.lastReceiptId,
  tree: 'rfc6962-sha256' as const,
  kid: record.kid,
  checkpoint: record.jws,
  checkpoint_hash: record.hash,
  leaves_url: `${baseUrl}/checkpoints/${record.day}/leaves`,
  created_at: formatTimestamp(record.createdAtMs),
});
