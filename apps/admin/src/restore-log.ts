/** Reads logs for `svc-admin restore`, and compares them with a database of which no lost span is known. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from '@svc/cli/command-line';
import {
  compareLog,
  type LogDifference,
  type LoggedRevocations,
  messageOf,
  RevocationLog,
  type ServiceDeps,
  takeLogged,
} from '@svc/service';
import { createProgress } from './progress.ts';

/**
 * Prints what was read of each file.
 * @throws UsageError with the name of a file that holds no log of the service, or what may be a revocation and is not
 *   understood
 */
export const readLogs = async (paths: readonly string[]): Promise<LoggedRevocations> => {
  const log = new RevocationLog();
  for (const path of paths) {
    const { lines, revocations, fault } = await readFile(log, path).catch((error: unknown) => {
      throw new UsageError(`${path}: ${messageOf(error)}`);
    });
    if (fault !== null) throw new UsageError(`${path}: ${fault}. Nothing was changed.`);
    if (lines === 0)
      throw new UsageError(
        `${path} has no line of the service’s log: it must have the JSON lines as they were written, or as Docker or journalctl -o json ` +
          'write them, and may be a .gz file. Nothing was changed.',
      );
    console.log(`${path}: ${lines} lines of the service, ${revocations} of them revocations.`);
  }
  return log.found();
};

const readFile = async (log: RevocationLog, path: string) => {
  const file = log.open();
  for await (const line of createInterface({ input: open(path), crlfDelay: Number.POSITIVE_INFINITY }))
    file.read(line);
  return file.end();
};

/** Errors of the file are raised when it is read. */
const open = (path: string) => {
  const file = createReadStream(path);
  return path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file;
};

export const describeLog = ({
  grants,
  compromisedKeys,
  apiKeys,
  ended,
  handedOver,
}: LoggedRevocations): string =>
  `In the log: ${grants.size} revoked Grants, ${compromisedKeys.size} compromised keys, ${apiKeys.size} revoked API keys, ` +
  `${ended.length} changes of keys, Agents, entitlements and pauses, ${handedOver.length} DIDs handed over.`;

/**
 * Resolves with the exit code: 0 if everything in the log is so in the database, with `isApplied` after applying it.
 */
export const holdAgainstLog = async (
  service: ServiceDeps,
  logged: LoggedRevocations,
  isApplied: boolean,
): Promise<number> => {
  const found = await compare(service, logged);
  if (found.open.length + found.handOvers.length === 0) {
    console.log(
      `This database has everything that the log says was revoked, ended or handed over.${describeUnknown(found)}`,
    );
    return 0;
  }
  console.log(`Revoked, ended or handed over in the log, but not in this database:${describeUnknown(found)}`);
  for (const name of found.open) console.log(`  ${name}`);
  console.log(RESTORED);
  if (!isApplied) console.log('Nothing was changed. Repeat with --apply to revoke or end these again.');
  const left = isApplied ? await takeAway(service, logged) : found;
  for (const line of describeHandOvers(left)) console.log(line);
  return left.open.length + left.handOvers.length === 0 ? 0 : 1;
};

const RESTORED =
  'These may include changes that were logged but did not succeed. If this database was restored from a backup, more is lost than a log\n' +
  'shows: stop every process, and begin with svc-admin restore --log … --lost-from, with the time of the backup.';

const compare = async (service: ServiceDeps, logged: LoggedRevocations): Promise<LogDifference> => {
  const progress = createProgress();
  const onProgress = (looked: number) => progress.show(`Of the log compared: ${looked}`);
  return compareLog(service, logged, onProgress).finally(progress.clear);
};

const takeAway = async (service: ServiceDeps, logged: LoggedRevocations): Promise<LogDifference> => {
  const taken = await takeLogged(service, logged);
  console.log(
    `Revoked or ended again: ${taken.grants} Grants, ${taken.keys} keys of Principals, ${taken.apiKeys} API keys, ${taken.agents} Agents, ` +
      `${taken.entitlements} entitlements, ${taken.pauses} pauses.`,
  );
  const left = await compare(service, logged);
  for (const name of left.open) console.log(`  left: ${name}`);
  return left;
};

const describeUnknown = ({ unknownGrants }: LogDifference): string =>
  unknownGrants === 0
    ? ''
    : ` The database has no record of ${unknownGrants} Grants in the log: they were allocated in a lost span, or were deleted with their DID.`;

/** Changes after this line may be in a log that was not given. */
const describeHandOvers = ({ handOvers }: LogDifference): readonly string[] =>
  handOvers.map(({ did, fromOrg, toOrg }) => {
    const [path, act] = toOrg === 'released' ? ['release', 'released'] : ['transfer', `given to ${toOrg}`];
    return `  ${did} is still in ${fromOrg ?? 'no org'}, and was ${act}: if it did not change hands again later, POST /claims/${encodeURIComponent(did)}/${path}`;
  });
