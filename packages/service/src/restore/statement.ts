/** The service's statement about a restore, signed as checkpoints are (protocol §12): it names the lost span. */
import { formatTimestamp, jcs, signCompactJws } from '@svc/protocol';
import { MAX_AHEAD_MS, RESTORE_TYP, type RestoreStatement } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import type { Day } from '../ports/checkpoints.ts';

export interface Restored {
  readonly epoch: number;
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  readonly quarantinedUntilMs: number;
  readonly reinstatedDays: readonly Day[];
  readonly revokedAgain: number;
  /** The statement before this one, a compact JWS. */
  readonly previous: string | null;
}

export const signRestoreStatement = (
  { identity, clock, crypto }: Pick<ServiceDeps, 'identity' | 'clock' | 'crypto'>,
  restored: Restored,
): Promise<string> => {
  const statement: RestoreStatement = {
    iss: identity.did,
    epoch: restored.epoch,
    lost_from: formatTimestamp(restored.lostFromMs),
    lost_until: formatTimestamp(restored.lostUntilMs),
    quarantined_until: formatTimestamp(restored.quarantinedUntilMs),
    reinstated_days: [...restored.reinstatedDays],
    revoked_again: restored.revokedAgain,
    previous: restored.previous === null ? null : `sha256:${crypto.sha256Hex(restored.previous)}`,
    // The span may end in the future, by a clock that ran ahead. Readers accept an end at most `MAX_AHEAD_MS` after
    // `iat`.
    iat: Math.max(Math.floor(clock.nowMs() / 1000), Math.ceil((restored.lostUntilMs - MAX_AHEAD_MS) / 1000)),
  };
  return signCompactJws(identity.statusKeys.signer, { typ: RESTORE_TYP }, jcs({ ...statement }));
};
