/** A view whose code is loaded when the view is first shown. */
import type { ComponentType } from 'preact';
import { Problem } from '../shared/problem.tsx';
import { useLoaded } from '../shared/use-loaded.ts';
import type { View } from './place.ts';
import type { ViewProps } from './view-props.ts';

const VIEWS: Readonly<Record<Exclude<View['id'], 'decisions'>, () => Promise<ComponentType<ViewProps>>>> = {
  grants: async () => (await import('./authority/grants.tsx')).Grants,
  agents: async () => (await import('./authority/agents.tsx')).Agents,
  parties: async () => (await import('./authority/parties.tsx')).Parties,
  members: async () => (await import('./authority/members.tsx')).Members,
  events: async () => (await import('./events/events.tsx')).Events,
};

export const LazyView = ({ id, ...props }: ViewProps & { readonly id: keyof typeof VIEWS }) => {
  const loaded = useLoaded(
    () =>
      VIEWS[id]().catch(() => {
        throw new Error('A part of this page could not be loaded. Load the page again.');
      }),
    [id],
  );
  const { value: Shown, problem } = loaded;
  if (problem !== null) return <Problem text={problem} />;
  if (Shown === null)
    return (
      <p class="soft" role="status">
        Loading …
      </p>
    );
  return <Shown {...props} />;
};
