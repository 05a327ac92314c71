/** The Agents that a Principal has given Grants to: what each did, and the buttons that stop it. */
import { useState } from 'preact/hooks';
import { Confirm } from '../../shared/confirm.tsx';
import { formatInstant } from '../../shared/describe.ts';
import { readPages, usePaged } from '../../shared/paged.ts';
import { Problem } from '../../shared/problem.tsx';
import type { GrantList, GrantSummary } from '../../shared/wire.ts';
import { PauseSwitch } from '../pause-switch.tsx';
import type { Own } from '../session.ts';
import { ShortId } from '../short-id.tsx';
import { StateBadge } from '../state-badge.tsx';
import type { ViewProps } from '../view-props.ts';
import { ActedBar, ActedFor, Incomplete } from './acted.tsx';
import { type Acted, useActivity } from './activity.ts';
import { MayHaveEnded } from './may-have-ended.tsx';
import './authority.css';

export const Agents = (props: ViewProps) => {
  const { own, days } = props;
  const acted = useActivity(own, 'agent', days);
  const grants = usePaged<GrantSummary>(
    (from) =>
      readPages(async (cursor) => {
        const query = { state: 'active', limit: '200', ...(cursor !== null && { cursor }) };
        const { grants: rows, next_cursor: next } = await own.call<GrantList>('grants', { query });
        return { rows, next };
      }, from),
    [own],
  );
  const isThere = acted.value !== null && grants.rows !== null;
  const isAll = grants.rows !== null && grants.loadMore === null;
  const held = countByAgent(grants.rows ?? []);
  const dids = [...new Set([...(acted.value?.groups ?? []).map(({ subject }) => subject), ...held.keys()])];
  const agents = dids.filter((did) => did !== null);
  return (
    <section class="card" aria-labelledby="agents">
      <div class="card-head">
        <h2 id="agents">Agents</h2>
        <p>
          {isThere &&
            `${agents.length}${isAll ? '' : ' or more'} with a Grant that is not revoked or a decision in ${days} days`}
        </p>
      </div>
      <Problem text={acted.problem ?? grants.problem} />
      <Incomplete activity={acted.value} />
      {!isThere && acted.problem === null && grants.problem === null && <p class="soft">Loading …</p>}
      {isThere && agents.length === 0 && (
        <p class="empty">
          No Agent acts for you yet. <a href="docs#tag/Grants/operation/allocateGrant">Give one a Grant</a>,
          and it stands here.
        </p>
      )}
      {grants.rows !== null && grants.loadMore !== null && (
        <NotAllCounted counted={grants.rows.length} loadMore={grants.loadMore} />
      )}
      {held.size > 0 && <MayHaveEnded />}
      {agents.length > 0 && (
        <table class="rows rows-four">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">In {days} days</th>
              <th scope="col">Allowed</th>
              <th scope="col">Stop it</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((did) => (
              <AgentRow
                key={did}
                {...props}
                did={did}
                acted={acted}
                held={held.get(did) ?? 0}
                isAll={isAll}
                onDisabled={grants.reload}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
};

const countByAgent = (grants: readonly GrantSummary[]): ReadonlyMap<string, number> => {
  const held = new Map<string, number>();
  for (const { agent } of grants) held.set(agent, (held.get(agent) ?? 0) + 1);
  return held;
};

const NotAllCounted = ({
  counted,
  loadMore,
}: {
  readonly counted: number;
  readonly loadMore: () => Promise<void>;
}) => (
  <>
    <p class="note note-warn">
      Counted are the newest {counted.toLocaleString('en')} Grants that are not revoked; there are more. An
      Agent with none but older ones stands here only if it acted in this period.
    </p>
    <button type="button" class="button button-small" onClick={() => void loadMore()}>
      Count older ones
    </button>
  </>
);

interface AgentRowProps extends ViewProps {
  readonly did: string;
  readonly acted: Acted;
  /** Number of Grants that are not revoked, among those that were read. */
  readonly held: number;
  /** Every Grant was read; otherwise the Agent may hold more than `held`. */
  readonly isAll: boolean;
  readonly onDisabled: () => void;
}

const AgentRow = ({ own, pauses, did, acted, held, isAll, onDisabled }: AgentRowProps) => {
  const target = { scope: 'agent', subject: did } as const;
  const isPaused = pauses.find(target) !== undefined;
  const group = acted.of(did);
  // A stranger who has got hold of a Grant can sign a Proof for it with another key; the service denies it.
  const isStranger =
    isAll && held === 0 && group !== undefined && group.verifies === group.reasons.PROOF_AGENT_MISMATCH;
  return (
    <tr>
      <th scope="row">
        <p class="row-name">
          <ShortId id={did} /> <StateBadge state={pauses.stateOf(target, pauses.all)} />
        </p>
        {!isPaused && pauses.all !== null && <p class="soft">{pauses.all}</p>}
        <p class="soft">
          {isStranger ? 'No Grant of yours names it: its Proofs were denied.' : heldText(held, isAll)}
        </p>
      </th>
      <td>
        <ActedBar acted={acted} group={group} />
        {group !== undefined && <p class="soft">last {formatInstant(group.last_at)}</p>}
      </td>
      <td>
        <ActedFor group={group} />
      </td>
      <td>
        <div class="row-acts">
          {!isStranger && <PauseSwitch own={own} pauses={pauses} target={target} name="this Agent" />}
          {(held > 0 || !isAll) && <DisableButton own={own} did={did} onDisabled={onDisabled} />}
        </div>
      </td>
    </tr>
  );
};

const heldText = (held: number, isAll: boolean): string => {
  const count = held.toLocaleString('en');
  if (!isAll) return held === 0 ? 'Grants not counted' : `${count} or more Grants not revoked`;
  return held === 1 ? '1 Grant not revoked' : `${count} Grants not revoked`;
};

const DisableButton = ({
  own,
  did,
  onDisabled,
}: {
  readonly own: Own;
  readonly did: string;
  readonly onDisabled: () => void;
}) => {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button type="button" class="button button-small button-harm" onClick={() => setIsAsking(true)}>
        Revoke all … <span class="unseen">Grants of this Agent</span>
      </button>
      {isAsking && (
        <Confirm
          title="Revoke every Grant of this Agent for good?"
          verb="Revoke all for good"
          busy="Revoking …"
          isDangerous
          act={() => own.call(`agents/${encodeURIComponent(did)}/disable`, { body: null })}
          onDone={onDisabled}
          onClose={() => setIsAsking(false)}
        >
          <p>
            <ShortId id={did} />
          </p>
          <p>
            Every Grant of yours that names it is revoked, on all nodes before the service answers.{' '}
            <strong>This cannot be undone.</strong> It acts for you again only with a new Grant. To stop it
            for a while, pause it.
          </p>
        </Confirm>
      )}
    </>
  );
};
