/** What is left of each budget of a Grant, as bars. */
import type { Capability } from '@svc/protocol';
import { useState } from 'preact/hooks';
import { Problem } from '../../shared/problem.tsx';
import { ResourceList } from '../../shared/resource.tsx';
import { useLoaded } from '../../shared/use-loaded.ts';
import { NotNow } from '../calls-left.ts';
import type { Own } from '../session.ts';
import { type BudgetLine, loadBudgets } from './budget-lines.ts';

export const Budgets = ({ own, grantId }: { readonly own: Own; readonly grantId: string }) => {
  const [isAsked, setIsAsked] = useState(false);
  const { value, problem } = useLoaded(
    () => loadBudgets(own.call, own.me.subject, grantId, !isAsked).catch(orNotNow),
    [own, grantId, isAsked],
  );
  if (problem !== null) return <Problem text={problem} />;
  if (value === 'not now')
    return (
      <p class="soft">
        Not read now: your key has few calls left in this minute.{' '}
        <button type="button" class="button button-small" onClick={() => setIsAsked(true)}>
          Read it
        </button>
      </p>
    );
  if (value === null) return <p class="soft">Loading …</p>;
  if (value.length === 0) return <p class="soft">Nothing has been drawn from a budget</p>;
  return (
    <ul class="budgets">
      {value.map(({ key, authority, lines }) => (
        <li key={key}>
          {value.length > 1 && authority !== null && (
            <p class="soft">
              <Name of={authority} />
            </p>
          )}
          {lines.map((line) => (
            <Line key={line.name} line={line} />
          ))}
        </li>
      ))}
    </ul>
  );
};

const orNotNow = (error: unknown): 'not now' => {
  if (error instanceof NotNow) return 'not now';
  throw error;
};

/** Names a budget, to tell several apart. */
const Name = ({ of: { action, constraints, resources } }: { readonly of: Capability }) => {
  const { methods } = constraints;
  const what = action === 'api:call' && Array.isArray(methods) ? methods.join(', ') : 'purchases';
  return (
    <>
      {what}
      {resources !== undefined && (
        <>
          {' '}
          · <ResourceList texts={resources} />
        </>
      )}
    </>
  );
};

const TONES = { ample: 'good', low: 'warn', 'used up': 'bad', unknown: 'idle' } as const;

const Line = ({ line: { name, left, limit, text, level } }: { readonly line: BudgetLine }) => {
  const share = limit === 0 ? 0 : left / limit;
  const tone = TONES[level];
  return (
    <div>
      <p class="budget-text">
        <span>{text}</span> <span class="soft">{name}</span>
        {(level === 'used up' || level === 'low') && <span class={`badge badge-${tone}`}>{level}</span>}
      </p>
      <div class="bar" aria-hidden="true">
        <i class={`bar-${tone}`} style={{ width: `${100 * share}%` }} />
      </div>
    </div>
  );
};
