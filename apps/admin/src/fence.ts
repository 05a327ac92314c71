/**
 * `svc-admin fence`: shows the beat that the fence names, and whether the database has it. `fence reset` starts the
 * fence anew.
 */
import { UsageError } from '@svc/cli/command-line';
import type { Environment } from '@svc/config';
import { type OpenedFenceStore, openFenceStore } from '@svc/fence';
import {
  type FenceHead,
  HEAD_KEY,
  PROOF_LIFE_MS,
  parseOwnHead,
  resetFence,
  type ServiceDeps,
  serviceOfHead,
} from '@svc/service';
import type { Command } from './command.ts';
import { withServiceThatSignsNothing } from './open.ts';

type Opened = OpenedFenceStore['fenceStore'];

/** Rejects if the deployment has no fence. */
const withFence = <T>(
  env: Environment,
  work: (service: ServiceDeps, fenceStore: Opened) => Promise<T>,
): Promise<T> =>
  withFenceIfAny(
    env,
    (service, fenceStore) => {
      if (fenceStore === null) throw new UsageError('SVC_FENCE names no fence');
      return work(service, fenceStore);
    },
    withServiceThatSignsNothing,
  );

/** `fenceStore`: null if SVC_FENCE is none. */
export const withFenceIfAny = <T>(
  env: Environment,
  work: (service: ServiceDeps, fenceStore: Opened | null) => Promise<T>,
  open: typeof withServiceThatSignsNothing,
): Promise<T> =>
  open(env, async (service, configured) => {
    if (configured === null) return work(service, null);
    const { fenceStore, close } = await openFenceStore(configured.place, configured.endpoint);
    try {
      return await work(service, fenceStore);
    } finally {
      close();
    }
  });

export const fenceShowCommand: Command = {
  name: 'fence show',
  gist: 'Shows what the fence names, and whether the database has it (0) or not (1)',
  options: {},
  run: (_, env) => withFence(env, show),
};

const show = async ({ store, identity }: ServiceDeps, fenceStore: Opened): Promise<number> => {
  const found = await fenceStore.find(HEAD_KEY);
  if (found === null) {
    const { seq } = await store.restores.findLast();
    console.log(
      seq === 0
        ? 'There is no fence yet. The service makes the first one.'
        : 'There is no fence where SVC_FENCE says, and the database had one: set SVC_FENCE to where it lies. Where it is lost: svc-admin restore --lost-from if the database was restored, else svc-admin fence reset.',
    );
    return 1;
  }
  const head = parseOwnHead(identity, found.text);
  if ('problem' in head) throw new Error(head.problem);
  const isKnown = await store.restores.isKnownHead(head);
  const of = serviceOfHead(found.text) ?? '';
  console.log(describeFence(head, isKnown, of, identity.did));
  return isKnown && of === identity.did ? 0 : 1;
};

/** `of`: the DID that the fence names; it may be a former DID of the service. */
export const describeFence = (head: FenceHead, isKnown: boolean, of: string, did: string): string =>
  [
    describeHead(head),
    isKnown ? 'The database has it.' : 'The database lacks it: run svc-admin restore.',
    ...(of === did || !isKnown
      ? []
      : [
          `It is that of ${of}, a former DID of this service. Stop every process, and svc-admin fence reset begins it anew under ${did}; decisions begin after that.`,
        ]),
  ].join('\n');

export const describeHead = ({ epoch, seq, atMs }: FenceHead): string =>
  `The fence names beat ${seq} of ${new Date(atMs).toISOString()}, epoch ${epoch}.`;

const VOUCHED = '--database-is-the-latest';

export const fenceResetCommand: Command = {
  name: 'fence reset',
  gist: 'Begins the fence anew at what this database has, where it was lost or is older than the database remembers',
  options: {
    'database-is-the-latest': { text: 'needed' },
    'without-quarantine': {
      text: 'decisions begin at once: a Proof that this database does not know to be spent is allowed again',
    },
  },
  notes: [
    `Stop every process first: it is refused while a service is at work on the database, on whatever fence. Whoever does this vouches
that the database is the latest one: nothing else can tell any more. Decisions begin when no Proof that could have been spent elsewhere is fresh, after some five minutes. Refused where the fence is that of another
deployment, or says that the database is not. On a database that was restored this would leave in force what was revoked since the backup: there it is svc-admin restore --lost-from.`,
  ],
  run: (values, env) => {
    if (values['database-is-the-latest'] !== true)
      throw new UsageError(`fence reset needs ${VOUCHED}, said by somebody who knows`);
    const quarantineMs = values['without-quarantine'] === true ? 0 : PROOF_LIFE_MS;
    return withFence(env, (service, fenceStore) => reset(service, fenceStore, quarantineMs));
  },
};

const reset = async (service: ServiceDeps, fenceStore: Opened, quarantineMs: number): Promise<number> => {
  const done = await resetFence(service, fenceStore, quarantineMs);
  if ('problem' in done) throw new UsageError(done.problem);
  console.log(describeHead(done.head));
  if (quarantineMs > 0) console.log(`Decisions begin at ${new Date(done.untilMs).toISOString()}.`);
  return 0;
};

export const fenceGiveUpCommand: Command = {
  name: 'fence give-up',
  gist: 'Lets the service run with SVC_FENCE=none on a database that had a fence',
  options: { 'database-is-the-latest': { text: 'needed' } },
  notes: [
    `From then on nothing notices a restored backup. Stop every process first. What lies outside is left; a fence there is begun anew
with fence reset.`,
  ],
  run: (values, env) => {
    if (values['database-is-the-latest'] !== true)
      throw new UsageError(`fence give-up needs ${VOUCHED}, said by somebody who knows`);
    return withServiceThatSignsNothing(env, async ({ store }) => {
      const beats = await store.restores.forgetLineage();
      console.log(beats === 0 ? 'The database has no fence.' : 'The database has no fence any more.');
      return 0;
    });
  },
};
