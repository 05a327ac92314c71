/**
 * `svc-admin restore`: makes a database that was restored to an earlier moment the one that decides again
 * (docs/operations.md).
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  findFenceRecords,
  findLostSpan,
  type LostSpan,
  type Restore,
  readRevocationLog,
  restoreLedger,
} from '@svc/service';
import type { Command } from './command.ts';
import { describeHead, withFence } from './fence.ts';
import { createProgress } from './progress.ts';
import { describeWithheld } from './withheld.ts';

export const restoreCommand: Command = {
  name: 'restore',
  gist: 'Holds a database that was restored from a backup against the fence, and says what it lacks',
  options: {
    log: { value: 'FILE', text: 'a log of the API, with its lines "revocation"', many: true },
    apply: { text: 'does what is missing; nothing is changed, and the exit code is 1, unless given' },
    'leave-ahead': {
      text: 'leaves checkpoints away that are dated ahead of the database’s clock and of this machine’s: the clock that signed them ran ahead',
    },
  },
  notes: [
    `With --apply it revokes again what was revoked, keeps what was published, forbids decisions until no Proof that was spent is fresh,
withholds Grants of which too much is unknown, and signs a statement about the lost span. Stop every process of the former
database first.`,
  ],
  run: (values, env) =>
    withFence(env, async (service, outside) => {
      const logged = await readLogs((values.log as readonly string[] | undefined) ?? []);
      const span = await findLostSpan(service, outside);
      if (span === null) {
        console.log('The database has what the fence names: there is nothing to restore.');
        return 0;
      }
      console.log(describeSpan(span));
      if (values.apply === true) {
        const progress = createProgress();
        const onProgress = (what: string, looked: number) => progress.show(`Grants ${what}: ${looked}`);
        const restore = await restoreLedger(service, outside, span, logged, {
          onProgress,
          ...(values['leave-ahead'] === true ? { leaveAhead: { hereMs: Date.now() } } : {}),
        }).finally(progress.clear);
        console.log(describeRestore(restore));
        return 0;
      }
      const { lists, checkpoints, lostNames } = await findFenceRecords(service, outside);
      console.log(`Kept beside the fence: ${lists.length} status lists, ${checkpoints.length} checkpoints.`);
      console.log(`In the log: ${logged.grants.size} revoked Grants. Lost names: ${lostNames.length}.`);
      console.log(
        'Nothing was changed. Stop every process of the former database, then repeat with --apply.',
      );
      return 1;
    }),
};

const readLogs = async (paths: readonly string[]) => {
  const lines: string[] = [];
  for (const path of paths)
    for await (const line of createInterface({ input: createReadStream(path, 'utf8') }))
      if (line.includes('"revocation"')) lines.push(line);
  return readRevocationLog(lines);
};

const at = (ms: number): string => new Date(ms).toISOString();

const describeSpan = ({ head, lostFromMs, lostUntilMs, quarantinedUntilMs }: LostSpan): string =>
  [
    describeHead(head),
    'The database lacks it.',
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
      (kid) => `                  svc-admin keys compromise ${kid}: once more, for its file and its lists`,
    ),
    ...takenAgain.unknownKeys.map(
      (kid) =>
        `  unknown         ${kid}: retired or compromised in the lost span. Once the document of its Principal names it, it is active: compromise it then`,
    ),
    `  handed over     ${takenAgain.transferred} DIDs transferred, ${takenAgain.released} released`,
    `  reinstated      ${restore.reinstatedDays.length === 0 ? 'no checkpoint' : `the checkpoints of ${restore.reinstatedDays.join(', ')}`}`,
    `  reserved        ${reservedNames.length === 0 ? 'no name' : reservedNames.join(', ')}`,
    '  unverified      every hosted Principal, until its domain has been asked again; a worker does so at once',
    `  withheld        ${withheld.inDoubt} Grants: what they were first allowed with, or drew on budgets, may be lost`,
    ...withheld.named.map((grant) => `                  ${describeWithheld(grant)}`),
    ...(more > 0 ? [`                  and ${more} more: svc-admin restore withheld`] : []),
    `                  ${withheld.others} others, which were allowed here, where they come to draw on a budget for the first time`,
    '',
    `Start the service and a worker now. Until ${at(restore.quarantinedUntilMs)} POST /verify answers 503; all else is answered.`,
    'Withheld Grants are allowed again after svc-admin restore release. GET /restores shows the signed statement.',
  ].join('\n');
};
