/**
 * The report of `svc-admin fsck`: progress and faults go to standard error as they occur, the summary to standard
 * output.
 */
import { UsageError } from '@svc/cli/command-line';
import type { Environment } from '@svc/config';
import {
  type CheckDatabaseOptions,
  type CheckSummary,
  checkDatabase,
  type Fault,
  type Progress,
} from '@svc/fsck';
import { openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { type Command, databaseUrlFrom } from './command.ts';
import { type FaultKind, FaultList, SHOWN_OF_A_KIND } from './fault-list.ts';
import { createProgress } from './progress.ts';

export const fsckCommand: Command = {
  name: 'fsck',
  gist: 'Reads the whole database in one snapshot and checks its signatures, hashes, chains and counts',
  options: {
    all: {
      text: `shows every fault; default: the first ${SHOWN_OF_A_KIND} of each kind, and how many there are`,
    },
    cold: { text: 'also reads packed days from their objects (SVC_COLD), and checks them' },
    json: { text: 'prints one JSON document instead of a report' },
  },
  notes: [
    `It checks every Receipt and its signature, every closed day and its chain, every status list against the revocations, every
artifact against its hash, and every count against the Receipts. It writes nothing, and the service may run meanwhile.`,
  ],
  run: (values, env) => {
    const databaseUrl = databaseUrlFrom(env);
    const shown = { isJson: values.json === true, showsAll: values.all === true };
    return values.cold === true
      ? withObjects(env, (objects) => fsck({ databaseUrl, objects }, shown))
      : fsck({ databaseUrl }, shown);
  },
};

const withObjects = async (
  { SVC_COLD: place, SVC_COLD_ENDPOINT: endpoint }: Environment,
  work: (objects: ObjectStore) => Promise<number>,
): Promise<number> => {
  if (!place || place === 'none')
    throw new UsageError('--cold needs SVC_COLD: set it to the store of packed days, as the worker has it');
  const { objects, close } = await openObjects(place, endpoint || null, { isCopy: true });
  try {
    return await work(objects);
  } finally {
    close();
  }
};

interface Shown {
  readonly isJson: boolean;
  readonly showsAll: boolean;
}

/** Resolves with the exit code. */
const fsck = async (
  where: Pick<CheckDatabaseOptions, 'databaseUrl' | 'objects'>,
  { isJson, showsAll }: Shown,
): Promise<number> => {
  const shown: Fault[] = [];
  const found = new FaultList(showsAll);
  const progress = isJson ? SILENT : createProgress();
  const summary = await checkDatabase({
    ...where,
    onProgress: (progressed) => progress.show(describeProgress(progressed)),
    onFault: (fault) => {
      if (!found.add(fault)) return;
      if (isJson) return void shown.push(fault);
      progress.clear();
      console.error(`${fault.check}: ${fault.where}: ${fault.problem}`);
    },
  });
  progress.clear();
  const faults = summary.checks.reduce((sum, check) => sum + check.faults, 0);
  console.log(
    isJson
      ? JSON.stringify({ ...summary, faults: shown, kinds: found.list() }, null, 2)
      : report(summary, faults, found.list()),
  );
  return faults === 0 ? 0 : 1;
};

const SILENT = { show: () => {}, clear: () => {} };

const describeProgress = ({ check, done, total }: Progress): string => {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done * 100) / total));
  return `${check}: ${done} of ${total} (${percent} %)`;
};

const report = (
  { serviceDid, notes, checks }: CheckSummary,
  faults: number,
  kinds: readonly FaultKind[],
): string => {
  const widest = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, promise, looked, faults: found, durationMs }) => {
    const verdict = found === 0 ? 'ok   ' : `${found} ${found === 1 ? 'fault' : 'faults'}`;
    const seconds = (durationMs / 1000).toFixed(1);
    return `${verdict} ${name.padEnd(widest)}  ${promise} (${looked} in ${seconds} s)`;
  });
  const about = `The database of ${serviceDid ?? 'a service that has not signed anything yet'}:`;
  const end = faults === 0 ? 'No faults.' : `${faults} ${faults === 1 ? 'fault' : 'faults'}.`;
  const capped = kinds.filter(({ count, shown }) => count > shown);
  return [about, ...lines, ...notes, ...capped.map(describeKind), end].join('\n');
};

const describeKind = ({ check, problem, count, shown }: FaultKind): string =>
  `${count} faults of this kind, of which ${shown} are shown (--all shows each): ${check}: ${problem}`;
