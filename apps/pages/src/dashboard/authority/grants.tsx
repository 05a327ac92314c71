/** A Principal's Grants: the activity under each, what is left of its budgets, and the buttons that stop it. */
import { useState } from 'preact/hooks';
import { formatInstant } from '../../shared/describe.ts';
import { usePaged } from '../../shared/paged.ts';
import { Problem } from '../../shared/problem.tsx';
import type { GrantList, GrantSummary } from '../../shared/wire.ts';
import { PauseSwitch } from '../pause-switch.tsx';
import { addressOf } from '../place.ts';
import { ShortId } from '../short-id.tsx';
import { StateBadge } from '../state-badge.tsx';
import type { ViewProps } from '../view-props.ts';
import { ActedBar, ActedFor, Incomplete } from './acted.tsx';
import { type Acted, useActivity } from './activity.ts';
import { Budgets } from './budgets.tsx';
import { MayHaveEnded } from './may-have-ended.tsx';
import { RevokeButton } from './revoke.tsx';
import './authority.css';

const STATES = { active: 'Not revoked', revoked: 'Revoked' } as const;
type GrantState = keyof typeof STATES;

export const Grants = (props: ViewProps) => {
  const { own, days } = props;
  const [state, setState] = useState<GrantState>('active');
  const acted = useActivity(own, 'grant', days);
  const { rows, problem, isLoading, loadMore, reload } = usePaged<GrantSummary>(
    async (cursor) => {
      const query = { state, limit: '20', ...(cursor !== null && { cursor }) };
      const { grants, next_cursor: next } = await own.call<GrantList>('grants', { query });
      return { rows: grants, next };
    },
    [own, state],
  );
  return (
    <section class="card" aria-labelledby="grants">
      <div class="card-head">
        <h2 id="grants">Grants</h2>
        <StateChoice state={state} onState={setState} />
      </div>
      <Problem text={problem} />
      <Problem text={acted.problem} />
      <Incomplete activity={acted.value} />
      {rows === null && isLoading && <p class="soft">Loading …</p>}
      {rows?.length === 0 && <NoGrants state={state} />}
      {state === 'active' && rows !== null && rows.length > 0 && <MayHaveEnded />}
      {rows !== null && rows.length > 0 && (
        <table class="rows rows-four">
          <thead>
            <tr>
              <th scope="col">Grant</th>
              <th scope="col">In {days} days</th>
              <th scope="col">Left of its budgets</th>
              <th scope="col">{state === 'active' ? 'Stop it' : 'Revoked'}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((grant) => (
              <GrantRow key={grant.id} {...props} grant={grant} acted={acted} onRevoked={reload} />
            ))}
          </tbody>
        </table>
      )}
      {loadMore !== null && (
        <button type="button" class="button" onClick={() => void loadMore()}>
          Older
        </button>
      )}
    </section>
  );
};

const StateChoice = ({
  state,
  onState,
}: {
  readonly state: GrantState;
  readonly onState: (state: GrantState) => void;
}) => (
  <fieldset class="periods">
    <legend class="unseen">Which Grants</legend>
    {Object.entries(STATES).map(([value, name]) => (
      <label key={value}>
        <input
          type="radio"
          class="unseen"
          name="grant-state"
          checked={value === state}
          onChange={() => onState(value as GrantState)}
        />
        <span>{name}</span>
      </label>
    ))}
  </fieldset>
);

const NoGrants = ({ state }: { readonly state: GrantState }) =>
  state === 'revoked' ? (
    <p class="soft">Nothing has been revoked.</p>
  ) : (
    <div class="empty">
      <p>
        No Grant is in force. <a href="docs#tag/Grants/operation/allocateGrant">Reserve one</a>, sign it with
        a key of yours, and hand it to your Agent: it stands here from then on.
      </p>
    </div>
  );

interface GrantRowProps extends ViewProps {
  readonly grant: GrantSummary;
  readonly acted: Acted;
  readonly onRevoked: () => void;
}

const GrantRow = ({ own, pauses, grant, acted, onRevoked }: GrantRowProps) => {
  // True until the list has been loaded again.
  const [isJustRevoked, setIsJustRevoked] = useState(false);
  const isRevoked = grant.state === 'revoked' || isJustRevoked;
  const target = { scope: 'grant', subject: grant.id } as const;
  const agent = { scope: 'agent', subject: grant.agent } as const;
  const wider = pauses.find(agent) === undefined ? pauses.all : 'with the Agent';
  const state = isRevoked ? 'revoked' : pauses.stateOf(target, wider);
  const group = acted.of(grant.id);
  return (
    <tr>
      <th scope="row">
        <p class="row-name">
          <ShortId id={grant.id} /> <StateBadge state={state} />
        </p>
        {state === 'paused' && pauses.find(target) === undefined && <p class="soft">{wider}</p>}
        <p class="soft">
          to <ShortId id={grant.agent} />
        </p>
        <p class="soft">given {grant.allocated_at.slice(0, 10)}</p>
      </th>
      <td>
        <ActedBar acted={acted} group={group} />
        <ActedFor group={group} />
        {group !== undefined && (
          <p class="soft">
            last {formatInstant(group.last_at)}
            <br />
            <a href={addressOf('decisions', { grant_id: grant.id })}>Show its decisions</a>
          </p>
        )}
      </td>
      <td>{isRevoked ? <p class="soft">No longer counts</p> : <Budgets own={own} grantId={grant.id} />}</td>
      <td>
        {isRevoked ? (
          <p class="soft">{grant.revoked_at === null ? 'just now' : formatInstant(grant.revoked_at)}</p>
        ) : (
          <div class="row-acts">
            <PauseSwitch own={own} pauses={pauses} target={target} name="this Grant" />
            <RevokeButton
              own={own}
              grant={grant}
              onRevoked={() => {
                setIsJustRevoked(true);
                onRevoked();
              }}
            />
          </div>
        )}
      </td>
    </tr>
  );
};
