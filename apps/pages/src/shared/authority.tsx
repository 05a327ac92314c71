/** What a Capability allows, in a sentence: first its limits, then its resources, as their author wrote them. */
import type { Capability } from '@svc/protocol';
import { describeLimits } from './describe.ts';
import { ResourceList } from './resource.tsx';

export const Authority = ({ of }: { readonly of: Capability }) => (
  <>
    {describeLimits(of)} on{' '}
    {of.resources === undefined ? 'every resource' : <ResourceList texts={of.resources} />}
  </>
);
