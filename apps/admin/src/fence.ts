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
      if (fenceStore === null)
        throw new UsageError('SVC_FENCE names no fence: set it to the place of the fence');
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
  gist: 'Shows the beat that the fence names; the exit code is 0 if the database has it and it is of the present DID, otherwise 1',
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
        : 'The database had a fence, and there is none in the place that SVC_FENCE names: set SVC_FENCE to the place of the fence. If the fence is lost: svc-admin restore --lost-from if the database was restored, else svc-admin fence reset.',
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
          `It belongs to ${of}, a former DID of this service. Stop every process, then run svc-admin fence reset: it starts the fence anew under ${did}, and decisions begin after that.`,
        ]),
  ].join('\n');

export const describeHead = ({ epoch, seq, atMs }: FenceHead): string =>
  `The fence names beat ${seq} of ${new Date(atMs).toISOString()}, epoch ${epoch}.`;

const VOUCHED = '--database-is-the-latest';

export const fenceResetCommand: Command = {
  name: 'fence reset',
  gist: 'Starts the fence anew from what this database has, if the fence was lost or is older than the database records',
  options: {
    'database-is-the-latest': { text: 'required: confirms that this database is the latest one' },
    'without-quarantine': {
      text: 'decisions begin at once: a Proof is allowed again if this database has no record that it was spent',
    },
  },
  notes: [
    `Stop every process first: the command is refused while a service works on the database, whatever fence that service has. You confirm
that the database is the latest one, which nothing else can check any more. Decisions begin after about five minutes, when no Proof that may have
been spent elsewhere is still fresh.`,
    `The command is refused if the fence belongs to another deployment, or shows that the database is not the latest one. Do not use it on a
database that was restored: what was revoked since the backup would stay in force. Use svc-admin restore --lost-from there.`,
  ],
  run: (values, env) => {
    if (values['database-is-the-latest'] !== true)
      throw new UsageError(`fence reset needs ${VOUCHED}: give it only if you know that this is so`);
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
  options: { 'database-is-the-latest': { text: 'required: confirms that this database is the latest one' } },
  notes: [
    `Stop every process first. From then on nothing detects a restored backup. The fence outside the database is not deleted; to use it
again, start it anew with svc-admin fence reset.`,
  ],
  run: (values, env) => {
    if (values['database-is-the-latest'] !== true)
      throw new UsageError(`fence give-up needs ${VOUCHED}: give it only if you know that this is so`);
    return withServiceThatSignsNothing(env, async ({ store }) => {
      const beats = await store.restores.forgetLineage();
      console.log(beats === 0 ? 'The database has no fence.' : 'The database has no fence any more.');
      return 0;
    });
  },
};
