/** Tells a Principal that requests wait for its approval, and where to answer them. Renders nothing where none wait. */

import { Problem } from '../shared/problem.tsx';
import { useLoaded } from '../shared/use-loaded.ts';
import type { AccessRequestList } from '../shared/wire.ts';
import type { Own } from './session.ts';

export const Waiting = ({ own }: { readonly own: Own }) => {
  const { value, problem } = useLoaded(
    () =>
      own.call<AccessRequestList>(`principals/${encodeURIComponent(own.me.subject)}/access-requests`, {
        query: { status: 'pending', limit: '100' },
      }),
    [own],
  );
  if (problem !== null) return <Problem text={`Whether a request waits could not be read: ${problem}`} />;
  const count = value?.requests.length ?? 0;
  if (count === 0) return null;
  const some = value?.next_cursor == null ? count : `More than ${count}`;
  return (
    <p class="note note-warn">
      <a class="plain-link" href="approve#all">
        {count === 1 ? '1 request waits for your answer' : `${some} requests wait for your answer`}
      </a>
    </p>
  );
};
