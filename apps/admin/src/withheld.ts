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
    `It is not known what was allowed under these Grants in the lost span. They are Grants that were never allowed here, Grants that drew on
budgets, and Grants that were allowed here without drawing on one. Until you release a Grant, an ALLOW that would be its first here, or that would
draw on a budget, is 503.`,
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
  gist: 'Releases Grants that a restore withheld, so that they can be allowed again',
  options: {
    grant: { value: 'ID', text: 'this Grant', many: true },
    principal: { value: 'DID', text: 'all withheld Grants of this Principal' },
    all: { text: 'all withheld Grants' },
  },
  notes: [
    `What a Grant was first allowed with in the lost span, and what was drawn on its budgets then, stays lost. Release the Grants whose
Principals have confirmed that they were not used, and revoke the others. If a named Grant is not withheld, the command says so and the exit code
is 1. If the command is interrupted, run it again: it releases the rest.`,
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
      if (problems.length > 0) console.log('svc-admin restore withheld lists the withheld Grants.');
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
