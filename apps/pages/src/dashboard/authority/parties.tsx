/** The relying parties that received a Principal's Grants: how often, for what amounts, and when last. */
import { formatInstant } from '../../shared/describe.ts';
import { Problem } from '../../shared/problem.tsx';
import { addressOf } from '../place.ts';
import type { ViewProps } from '../view-props.ts';
import { ActedBar, ActedFor, Incomplete } from './acted.tsx';
import { useActivity } from './activity.ts';
import './authority.css';

export const Parties = ({ own, days }: ViewProps) => {
  const acted = useActivity(own, 'rp', days);
  const groups = acted.value?.groups ?? [];
  return (
    <section class="card" aria-labelledby="parties">
      <div class="card-head">
        <h2 id="parties">Relying parties</h2>
        <p>{acted.value !== null && `${acted.value.groups_total} asked in ${days} days`}</p>
      </div>
      <Problem text={acted.problem} />
      <Incomplete activity={acted.value} />
      {acted.value === null && acted.problem === null && <p class="soft">Loading …</p>}
      {acted.value !== null && groups.length === 0 && (
        <p class="empty">
          Nobody was shown a Grant of yours in these {days} days. Whoever an Agent of yours deals with stands
          here after its first request.
        </p>
      )}
      {groups.length > 0 && (
        <table class="rows rows-four">
          <thead>
            <tr>
              <th scope="col">Relying party</th>
              <th scope="col">In {days} days</th>
              <th scope="col">Allowed</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.subject}>
                <th scope="row">
                  <code>{group.subject}</code>
                </th>
                <td>
                  <ActedBar acted={acted} group={group} />
                </td>
                <td>
                  <ActedFor group={group} />
                </td>
                <td>
                  <p>{formatInstant(group.last_at)}</p>
                  <p class="soft">
                    <a href={addressOf('decisions', { rp: group.subject ?? '' })}>Show its decisions</a>
                  </p>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {(acted.value?.groups_total ?? 0) > groups.length && (
        <p class="soft">and {(acted.value?.groups_total ?? 0) - groups.length} more</p>
      )}
    </section>
  );
};
