/**
 * The requests that wait for an answer, as the service describes them, grouped by relying party and Agent: a flood of
 * requests is one heading.
 */
import type { AccessRequest } from '@svc/sdk-principal';
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { Resource } from '../shared/resource.tsx';
import type { Act } from './act.ts';
import { Deadline } from './deadline.tsx';
import { describeWish } from './words.ts';

export const RequestList = ({ act }: { readonly act: Act }) => {
  const [requests, setRequests] = useState<readonly AccessRequest[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const load = () => {
    setProblem(null);
    act()
      .approvals.page({ status: 'pending', limit: 100 })
      .then(
        (page) => setRequests(page.requests),
        (error) => setProblem(problemText(error)),
      );
  };
  useEffect(load, []);
  return (
    <section class="card" aria-labelledby="waiting">
      <div class="card-head">
        <h2 id="waiting">What waits for your answer</h2>
        <button type="button" class="button button-quiet" onClick={load}>
          Look again
        </button>
      </div>
      <div role="status">
        {problem !== null && <p class="note note-bad">{problem}</p>}
        {requests === null && problem === null && <p class="soft">Asking …</p>}
        {requests?.length === 0 && <p>Nothing. You are not asked for anything now.</p>}
      </div>
      {requests !== null && requests.length > 0 && (
        <p class="soft">
          So the service describes them, and nothing of it is checked yet. Open one: what your Agent signed
          for is checked in this tab, and shown instead.
        </p>
      )}
      {[...groupsOf(requests ?? [])].map(([who, group]) => (
        <div key={who} class="asked-group">
          <h3>
            <code>{group[0]?.relying_party}</code> asks, for the Agent …{group[0]?.agent.slice(-8)}
          </h3>
          <ul>
            {group.map(({ task, action }) => (
              <li key={task.id}>
                <a href={`#${task.id}`}>{describeWish(action)}</a> for{' '}
                <Resource text={action.resource} most={80} />
                <span class="soft">
                  {' '}
                  until <Deadline at={task.expires_at} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
};

const groupsOf = (requests: readonly AccessRequest[]): Map<string, AccessRequest[]> => {
  const groups = new Map<string, AccessRequest[]>();
  for (const request of requests) {
    const who = `${request.relying_party} ${request.agent}`;
    groups.set(who, [...(groups.get(who) ?? []), request]);
  }
  return groups;
};
