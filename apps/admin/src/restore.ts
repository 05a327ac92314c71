/** `svc-admin restore`: lets a database that was restored to an earlier moment decide again (docs/operations.md). */
import { UsageError } from '@svc/cli/command-line';
import { parseAnyUtcTime } from '@svc/protocol';
import {
  type FenceStore,
  findFenceRecords,
  findLostSpan,
  type LoggedRevocations,
  type LostSpan,
  messageOf,
  nameLostSpan,
  type Restore,
  type RestoreOptions,
  refuseUnfit,
  restoreLedger,
  SERVICE_TARGET,
  type ServiceDeps,
} from '@svc/service';
import type { Command } from './command.ts';
import { describeHead, withFenceIfAny } from './fence.ts';
import { withServiceThatSignsLists, withServiceThatSignsNothing } from './open.ts';
import { createProgress } from './progress.ts';
import { describeLog, holdAgainstLog, readLogs } from './restore-log.ts';
import { describeWithheld } from './withheld.ts';

export const restoreCommand: Command = {
  name: 'restore',
  gist: 'Compares a database that was restored from a backup with the fence and the logs, and says what it lacks',
  options: {
    log: { value: 'FILE', text: 'a log of the API or the worker, with its "revocation" lines', many: true },
    'lost-from': {
      value: 'TIME',
      text: 'time of the backup, such as 2026-11-29T08:00:00Z, or an earlier time; needed if the fence was also lost or set back, or if there is none',
    },
    apply: {
      text: 'restores what is missing; without it nothing is changed, and the exit code is 1 if something is missing',
    },
    'leave-ahead': {
      text: 'leaves out checkpoints that are dated ahead of the clocks of the database and of this machine: the clock that signed them ran ahead',
    },
  },
  notes: [
    `Stop every process of the former database first. With --apply the command revokes again what was revoked, keeps what was published,
forbids decisions until no Proof that was spent is fresh, withholds Grants about which too much is unknown, and signs a statement about the lost
span.`,
    `A fence that was set back together with the database shows no difference. With --lost-from everything that was promised since that time
counts as lost. Only the logs then show what was revoked or ended, so they must be complete from that time on. If nothing is known to be
lost, the command compares the logs with the database: the exit code is 1 if the database lacks anything that the logs show as revoked, ended or
handed over. --apply revokes or ends it again; a DID that was handed over is only named, with the call that moves it.`,
    `FILE has the lines as they were written, with any prefix that a log shipper adds, or as Docker, Kubernetes or journalctl -o json --all
write them; it may be a .gz file. A file is refused if it has no line of the service, or a revocation that cannot be read.`,
  ],
  run: (values, env) => {
    const namedFromMs = readTime(values['lost-from']);
    const isApplied = values.apply === true;
    const work = async (service: ServiceDeps, fenceStore: FenceStore | null) => {
      const paths = (values.log as readonly string[] | undefined) ?? [];
      const logged = await readLogs(paths);
      if (paths.length > 0) console.log(describeLog(logged));
      const span = await findSpan(service, fenceStore, namedFromMs, paths.length > 0);
      if (span === null && paths.length > 0) return holdAgainstLog(service, logged, isApplied);
      if (span === null) return 0;
      console.log(describeSpan(span));
      const options = values['leave-ahead'] === true ? { leaveAhead: { hereMs: Date.now() } } : {};
      if (!isApplied) return describeMissing(service, fenceStore, logged, options);
      return apply(service, fenceStore, { span, logged, options });
    };
    return withFenceIfAny(env, work, isApplied ? withServiceThatSignsLists : withServiceThatSignsNothing);
  },
};

const readTime = (text: unknown): number | null => {
  if (text === undefined) return null;
  const ms = parseAnyUtcTime(String(text));
  if (ms === null || ms < 0)
    throw new UsageError('--lost-from must be a time in UTC, such as 2026-11-29T08:00:00Z');
  return Math.floor(ms);
};

const NO_FENCE =
  'SVC_FENCE names no fence, so nothing shows whether the database was restored. Give --log to compare the logs with the database, ' +
  'or --lost-from if everything since that time counts as lost';
const HAS_FENCE =
  'SVC_FENCE is none, and this database has a fence: set SVC_FENCE to the place of the fence, or to the place where it is to start anew';

/** Null: no lost span is known. */
const findSpan = async (
  service: ServiceDeps,
  fenceStore: FenceStore | null,
  namedFromMs: number | null,
  hasLog: boolean,
): Promise<LostSpan | null> => {
  if (fenceStore === null && (await service.store.restores.findLast()).seq > 0)
    throw new UsageError(HAS_FENCE);
  if (namedFromMs !== null) return nameLostSpan(service, fenceStore, namedFromMs);
  if (fenceStore === null && !hasLog) throw new UsageError(NO_FENCE);
  const span = fenceStore === null ? null : await findLostSpan(service, fenceStore);
  if (span === null && fenceStore !== null)
    console.log('The database has what the fence names: there is nothing to restore.');
  return span;
};

const describeMissing = async (
  service: ServiceDeps,
  fenceStore: FenceStore | null,
  logged: LoggedRevocations,
  options: RestoreOptions,
): Promise<number> => {
  const records = await findFenceRecords(service, fenceStore);
  const { lists, checkpoints, lostNames } = records;
  console.log(`Kept beside the fence: ${lists.length} status lists, ${checkpoints.length} checkpoints.`);
  console.log(`Names that were in use in the lost span: ${lostNames.length}.`);
  // No key file is open here, so the key of a list or a checkpoint may be in a file and not yet in the database.
  await refuseUnfit(service, records, logged, options).catch((error: unknown) =>
    console.log(`By the keys that this database knows, --apply would refuse: ${messageOf(error)}.`),
  );
  console.log('Nothing was changed. Stop every process of the former database, then repeat with --apply.');
  return 1;
};

interface Application {
  readonly span: LostSpan;
  readonly logged: LoggedRevocations;
  readonly options: RestoreOptions;
}

const apply = async (
  service: ServiceDeps,
  fenceStore: FenceStore | null,
  { span, logged, options }: Application,
): Promise<number> => {
  const progress = createProgress();
  const onProgress = (what: string, looked: number) => progress.show(`Grants ${what}: ${looked}`);
  const restore = await restoreLedger(service, fenceStore, span, logged, { ...options, onProgress }).finally(
    progress.clear,
  );
  console.log(describeRestore(restore));
  if (span.head.named !== undefined) console.log(await describePause(service));
  return 0;
};

/**
 * A reminder of the pause of the whole service. It is needed if only logs show what was revoked, since the log of a
 * node has no line of the operator's pause command.
 */
const describePause = async ({ store }: ServiceDeps): Promise<string> =>
  (await store.pauses.find(SERVICE_TARGET))?.isPaused === true
    ? 'The whole service is paused. When the reason for the pause is gone: svc-admin resume.'
    : 'The whole service is not paused. If it was paused in the lost span, run svc-admin pause before you start it.';

const at = (ms: number): string => new Date(ms).toISOString();

const ofFormer = (did: string): string =>
  `The fence belongs to ${did}, a former DID of this service. If this database is a copy, and the service with that DID still
runs on the original, --apply stops that service: name another place in SVC_FENCE.`;

export const describeSpan = ({
  head,
  formerDid,
  lostFromMs,
  lostUntilMs,
  quarantinedUntilMs,
}: LostSpan): string =>
  [
    ...(formerDid === null ? [] : [ofFormer(formerDid)]),
    ...(head.named === undefined
      ? [describeHead(head), 'The database lacks it.']
      : ['Everything that was promised since the time in --lost-from counts as lost.']),
    `  lost            from ${at(lostFromMs)} to ${at(lostUntilMs)}`,
    `  decisions from  ${at(quarantinedUntilMs)} on`,
  ].join('\n');

const describeRestore = ({ restore, takenAgain, reservedNames, withheld }: Restore): string => {
  const more = withheld.inDoubt - withheld.named.length;
  return [
    `This is restore number ${restore.epoch} of this deployment.`,
    `  revoked again   ${takenAgain.grants} Grants, ${takenAgain.keys} keys of Principals, ${takenAgain.apiKeys} API keys`,
    `  ended again     ${takenAgain.agents} Agents, ${takenAgain.entitlements} entitlements, ${takenAgain.pauses} pauses, ${takenAgain.serviceKeys.length} keys of the service`,
    ...takenAgain.serviceKeys.map(
      (kid) =>
        `                  run svc-admin keys compromise ${kid} again, for its file and its status lists`,
    ),
    ...takenAgain.unknownKeys.map(
      (kid) =>
        `  unknown         ${kid}: retired or compromised in the lost span. When the DID document of its Principal names it, it is active: mark it compromised then`,
    ),
    `  handed over     ${takenAgain.transferred} DIDs transferred, ${takenAgain.released} released`,
    `  reinstated      ${restore.reinstatedDays.length === 0 ? 'no checkpoint' : `the checkpoints of ${restore.reinstatedDays.join(', ')}`}`,
    `  reserved        ${reservedNames.length === 0 ? 'no name' : reservedNames.join(', ')}`,
    '  unverified      every hosted Principal, until its domain is checked again; a worker does so at once',
    `  withheld        ${withheld.inDoubt} Grants: what they were first allowed with, or what they drew on budgets, may be lost`,
    ...withheld.named.map((grant) => `                  ${describeWithheld(grant)}`),
    ...(more > 0 ? [`                  and ${more} more: svc-admin restore withheld`] : []),
    `                  ${withheld.others} others, which were allowed here: only when they first draw on a budget`,
    '',
    `Start the service and a worker now. Until ${at(restore.quarantinedUntilMs)} POST /verify answers 503; all other requests are answered.`,
    'Withheld Grants are allowed again after svc-admin restore release. GET /restores shows the signed statement.',
  ].join('\n');
};
