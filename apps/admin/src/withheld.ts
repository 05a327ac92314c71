/**
 * `svc-admin restore withheld` and `restore release`: Grants whose consumption in a lost span is unknown (protocol
 * §10).
 */
import { UsageError } from '@svc/cli/command-line';
import {
  type Release,
  type ReleasedGrants,
  releaseGrants,
  type ServiceDeps,
  type WithheldGrant,
} from '@svc/service';
import type { Command } from './command.ts';
import { withServiceThatSignsNothing } from './open.ts';
import { createProgress } from './progress.ts';

const PAGE = 1_000;

export const withheldCommand: Command = {
  name: 'restore withheld',
  gist: 'Lists the Grants that a restore withholds; the exit code is 1 if there are any',
  options: {},
  notes: [
    `What was allowed by them in the lost span is not known: they are those that were never allowed here, those that drew on budgets, and
those that were allowed here without one, which are refused only where they come to draw on a budget for the first time.`,
  ],
  run: (_, env) => withServiceThatSignsNothing(env, list),
};

const list = async ({ store }: ServiceDeps): Promise<number> => {
  let shown = 0;
  for (let after = ''; ; ) {
    const page = await store.withheldGrants.list(after, PAGE);
    for (const grant of page) console.log(describeWithheld(grant));
    shown += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.id;
  }
  if (shown === 0) console.log('No Grant is withheld.');
  return shown === 0 ? 0 : 1;
};

export const describeWithheld = ({ id, principal, isUnbound, budgets }: WithheldGrant): string =>
  `${id}  ${principal}  ${isUnbound ? 'never allowed here' : budgets.length > 0 ? `drew on ${budgets.join(', ')}` : 'allowed here, drew on no budget'}`;

export const releaseCommand: Command = {
  name: 'restore release',
  gist: 'Lets Grants that a restore withheld be allowed again',
  options: {
    grant: { value: 'ID', text: 'this one', many: true },
    principal: { value: 'DID', text: 'all of a Principal' },
    all: { text: 'all there are' },
  },
  notes: [
    `What they were first allowed with in the lost span, and what was drawn on their budgets then, stays lost: release those whose
Principal has confirmed that, and revoke the others. What is named and not withheld is said, and the exit code is 1. Cut off, the same
command releases the rest.`,
  ],
  run: (values, env) => {
    const [which, ...more] = releasedBy(values);
    if (which === undefined || more.length > 0)
      throw new UsageError('restore release needs one of --grant, --principal and --all');
    return withServiceThatSignsNothing(env, async (service) => {
      const progress = createProgress();
      const onProgress = (count: number) => progress.show(`Grants released: ${count}`);
      const release = await releaseGrants(service, which, { onProgress }).finally(progress.clear);
      const { released } = release;
      const problems = describeMissed(which, release);
      console.log(`${released} ${released === 1 ? 'Grant is' : 'Grants are'} released.`);
      for (const problem of problems) console.log(problem);
      if (problems.length > 0) console.log('svc-admin restore withheld lists those that are.');
      return problems.length === 0 ? 0 : 1;
    });
  },
};

/** One sentence for each given name that had nothing to release. */
const describeMissed = (which: ReleasedGrants, { released, missed }: Release): readonly string[] => {
  if ('grantIds' in which) return missed.map((id) => `${id} is not withheld.`);
  if (released > 0) return [];
  return ['principal' in which ? `No Grant of ${which.principal} is withheld.` : 'No Grant is withheld.'];
};

const releasedBy = ({
  grant,
  principal,
  all,
}: Readonly<Record<string, unknown>>): readonly ReleasedGrants[] => [
  ...(Array.isArray(grant) ? [{ grantIds: grant as readonly string[] }] : []),
  ...(typeof principal === 'string' ? [{ principal }] : []),
  ...(all === true ? [{ all } as const] : []),
];
