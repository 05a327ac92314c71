/** Builds the checkpoint of a closed day (protocol §12). */
import { formatHash } from '@svc/merkle';
import { type Checkpoint, TREE } from './payload.ts';
import { checkRules } from './rules.ts';

/** The values that a day's checkpoint is built from. */
export interface CheckpointDraft {
  readonly serviceDid: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly treeSize: number;
  readonly root: Uint8Array;
  /** Null on the service's first day. */
  readonly previousRoot: Uint8Array | null;
  readonly firstReceiptId: string | null;
  readonly lastReceiptId: string | null;
  /** Seconds since the epoch; never before the end of the day. */
  readonly closedAtSeconds: number;
}

/** The payload to sign. Throws RangeError if it violates the rules that readers check: an error of the caller. */
export const buildCheckpoint = (draft: CheckpointDraft): Checkpoint => {
  const checkpoint: Checkpoint = {
    day: draft.day,
    first_receipt_id: draft.firstReceiptId,
    iat: draft.closedAtSeconds,
    iss: draft.serviceDid,
    last_receipt_id: draft.lastReceiptId,
    previous_root: draft.previousRoot && `sha256:${formatHash(draft.previousRoot)}`,
    root: `sha256:${formatHash(draft.root)}`,
    tree: TREE,
    tree_size: draft.treeSize,
  };
  const [fault] = checkRules({ ...checkpoint });
  if (fault !== undefined) throw new RangeError(`not a checkpoint: ${fault.message}`);
  return checkpoint;
};
