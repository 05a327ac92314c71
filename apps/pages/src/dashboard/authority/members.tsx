/** The Principals and relying parties of an org, and the switch of each. */

import { PauseSwitch } from '../pause-switch.tsx';
import type { Target } from '../pauses.ts';
import { StateBadge } from '../state-badge.tsx';
import type { ViewProps } from '../view-props.ts';
import './authority.css';

const KINDS = {
  principal: { name: 'Principal', stops: 'No Agent may act under any of its Grants.' },
  relying_party: { name: 'Relying party', stops: 'Whatever it asks is denied.' },
} as const;

export const Members = ({ own, pauses }: ViewProps) => {
  const members = own.me.members ?? [];
  const wider = pauses.find({ scope: 'org', subject: own.me.subject }) === undefined ? null : 'with the org';
  return (
    <section class="card" aria-labelledby="members">
      <div class="card-head">
        <h2 id="members">Members</h2>
        <p>{members.length === 1 ? '1 member' : `${members.length} members`}</p>
      </div>
      {members.length === 0 ? (
        <p class="empty">
          This org has no members yet.{' '}
          <a href="docs#tag/Principals/operation/createPrincipal">Register a Principal</a> or a relying party
          with a key that may act for it.
        </p>
      ) : (
        <table class="rows rows-members">
          <thead>
            <tr>
              <th scope="col">Member</th>
              <th scope="col">Kind</th>
              <th scope="col">{own.mayAct ? 'Stop it' : ''}</th>
            </tr>
          </thead>
          <tbody>
            {members.map(({ did, kind }) => {
              const target: Target = { scope: kind, subject: did };
              return (
                <tr key={`${kind} ${did}`}>
                  <th scope="row">
                    <p class="row-name">
                      <code>{did}</code> <StateBadge state={pauses.stateOf(target, wider)} />
                    </p>
                  </th>
                  <td>{KINDS[kind].name}</td>
                  <td>
                    <div class="row-acts">
                      <PauseSwitch
                        own={own}
                        pauses={pauses}
                        target={target}
                        name={did}
                        stops={KINDS[kind].stops}
                      />
                    </div>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
};
