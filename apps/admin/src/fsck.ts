/** The report of `svc-admin fsck`: progress and faults on standard error as they come, the summary on standard output. */
import { type CheckSummary, checkDatabase, type Fault, type Progress } from '@svc/fsck';
import { type Command, databaseUrlFrom } from './command.ts';

/** More are counted, not shown: a database of another service would name every row. */
const MAX_SHOWN = 1_000;

export const fsckCommand: Command = {
  name: 'fsck',
  help: `reads the whole database in one snapshot and proves that it is what it must be: every Receipt and its signature,
every closed day and its chain, every status list against the revocations, every artifact against its hash, every
count against the Receipts. Nothing is written; the service may be at work.
  --json       one JSON document instead of a report`,
  options: { json: { type: 'boolean' } },
  run: (values, env) => fsck(databaseUrlFrom(env), { isJson: values.json === true }),
};

/** Answers the exit code. */
const fsck = async (databaseUrl: string, { isJson }: { readonly isJson: boolean }): Promise<number> => {
  const shown: Fault[] = [];
  const progress = isJson ? SILENT : createProgress(process.stderr.isTTY === true);
  const summary = await checkDatabase({
    databaseUrl,
    onProgress: progress.show,
    onFault: (fault) => {
      if (shown.length === MAX_SHOWN) return;
      shown.push(fault);
      if (isJson) return;
      progress.clear();
      console.error(`${fault.check}: ${fault.where}: ${fault.problem}`);
    },
  });
  progress.clear();
  const faults = summary.checks.reduce((sum, check) => sum + check.faults, 0);
  console.log(isJson ? JSON.stringify({ ...summary, faults: shown }, null, 2) : report(summary, faults));
  return faults === 0 ? 0 : 1;
};

const SILENT = { show: () => {}, clear: () => {} };

/** In a log a line now and then. */
const LINE_EVERY_MS = 10_000;

const createProgress = (isTerminal: boolean) => {
  let shownMs = performance.now();
  return {
    show({ check, done, total }: Progress): void {
      const percent = total === 0 ? 100 : Math.min(100, Math.floor((done * 100) / total));
      const text = `${check}: ${done} of ${total} (${percent} %)`;
      if (isTerminal) process.stderr.write(`\r\x1b[K${text}`);
      else if (performance.now() - shownMs > LINE_EVERY_MS) {
        console.error(text);
        shownMs = performance.now();
      }
    },
    clear(): void {
      if (isTerminal) process.stderr.write('\r\x1b[K');
    },
  };
};

const report = ({ serviceDid, checks }: CheckSummary, faults: number): string => {
  const widest = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, promise, looked, faults: found, durationMs }) => {
    const verdict = found === 0 ? 'ok   ' : `${found} ${found === 1 ? 'fault' : 'faults'}`;
    const seconds = (durationMs / 1000).toFixed(1);
    return `${verdict} ${name.padEnd(widest)}  ${promise} (${looked} in ${seconds} s)`;
  });
  const about = `The database of ${serviceDid ?? 'a service that has not signed anything yet'}:`;
  const end = faults === 0 ? 'No faults.' : `${faults} ${faults === 1 ? 'fault' : 'faults'}.`;
  return [about, ...lines, end].join('\n');
};
