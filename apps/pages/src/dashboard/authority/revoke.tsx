/** Revokes a Grant, which cannot be undone. */
import { useState } from 'preact/hooks';
import { Confirm } from '../../shared/confirm.tsx';
import type { GrantSummary } from '../../shared/wire.ts';
import type { Own } from '../session.ts';
import { ShortId } from '../short-id.tsx';

export interface RevokeButtonProps {
  readonly own: Own;
  readonly grant: GrantSummary;
  readonly onRevoked: () => void;
}

export const RevokeButton = ({ own, grant, onRevoked }: RevokeButtonProps) => {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button type="button" class="button button-small button-harm" onClick={() => setIsAsking(true)}>
        Revoke … <span class="unseen">this Grant</span>
      </button>
      {isAsking && (
        <Confirm
          title="Revoke this Grant for good?"
          verb="Revoke for good"
          busy="Revoking …"
          isDangerous
          act={() => own.call('revoke', { body: { grant_id: grant.id } })}
          onDone={onRevoked}
          onClose={() => setIsAsking(false)}
        >
          <p>
            <ShortId id={grant.id} /> to <ShortId id={grant.agent} />
          </p>
          <p>
            Once the service has answered, no request under it is allowed, on any node and at any relying
            party, and its status list says so to everybody. <strong>This cannot be undone.</strong> What was
            allowed before stays allowed. To stop it for a while, pause it.
          </p>
        </Confirm>
      )}
    </>
  );
};
