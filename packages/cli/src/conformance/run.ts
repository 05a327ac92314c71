/**
 * `svc-conformance run|serve`. Exit codes of `run`: 0 passed, 1 failed, 2 could not decide (bad usage, no answer, an
 * endpoint that cannot be asked).
 */
import { writeFileSync } from 'node:fs';
import type { ConformanceReport } from '@svc/conformance';
import { type Progress, runConformance, VectorSetError } from '@svc/conformance';
import { createHttpTransport, createOwnEngine, readVectorSet, serveConformance } from '@svc/conformance/node';
import packageJson from '../../package.json' with { type: 'json' };
import { UsageError } from '../command-line.ts';
import { painter, printable } from '../report.ts';
import { junitOf } from './junit.ts';
import { type Command, parseCommand, type RunCommand } from './options.ts';
import { describeReport } from './report-text.ts';

/** Where the command writes. `progress` is called with what should stand in the line under way. */
export interface Terminal {
  readonly colours: boolean;
  out(text: string): void;
  error(text: string): void;
  progress(text: string): void;
}

/** Resolves with the exit code; of `serve` when `stopped` does. */
export const run = async (
  args: readonly string[],
  terminal: Terminal,
  stopped: Promise<void> = new Promise(() => {}),
): Promise<0 | 1 | 2> => {
  try {
    return await runCommand(parseCommand(args), terminal, stopped);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof VectorSetError)) throw error;
    const message = printable(error.message);
    if (args.includes('--json')) terminal.out(JSON.stringify({ status: 'error', error: message }));
    else
      terminal.error(
        `svc-conformance: ${message}\n${error instanceof UsageError && error.hint !== null ? `\n${error.hint}` : 'Try svc-conformance --help.'}`,
      );
    return 2;
  }
};

const runCommand = async (
  command: Command,
  terminal: Terminal,
  stopped: Promise<void>,
): Promise<0 | 1 | 2> => {
  switch (command.name) {
    case 'tell':
      terminal.out(command.text);
      return 0;
    case 'version':
      terminal.out(packageJson.version);
      return 0;
    case 'serve':
      return serve(command, terminal, stopped);
    case 'run':
      return runAgainst(command, terminal);
  }
};

const serve = async (
  { host, port }: Extract<Command, { name: 'serve' }>,
  terminal: Terminal,
  stopped: Promise<void>,
): Promise<0> => {
  const server = await serveConformance(createOwnEngine(), { host, port }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    throw new UsageError(`${host}, port ${port}, cannot be listened on: ${code}`);
  });
  terminal.out(`svc-conformance-http v1 at ${server.url}`);
  await stopped;
  await server.close();
  return 0;
};

const runAgainst = async (command: RunCommand, terminal: Terminal): Promise<0 | 1 | 2> => {
  const { url, requestMs, runMs } = command;
  // That it cannot be written is found out before the run, and not after it.
  if (command.junit !== undefined) writeReport(command.junit, '', 'a');
  const report = await runConformance({
    url,
    vectors: readVectorSet(command.vectors),
    transport: createHttpTransport(),
    limits: { ...(requestMs === undefined ? {} : { requestMs }), ...(runMs === undefined ? {} : { runMs }) },
    isLibrary: command.library,
    clock: { nowMs: () => performance.now() },
    ...(command.quiet ? {} : { onProgress: (progress) => terminal.progress(describeProgress(progress)) }),
  });
  if (!command.quiet) terminal.progress('');
  if (command.junit !== undefined) writeReport(command.junit, junitOf(report));
  terminal.out(
    command.json ? JSON.stringify(report) : describeReport(report, url, painter(terminal.colours)),
  );
  return exitCodeOf(report, command, terminal);
};

const describeProgress = ({ requests, plannedRequests, cases, plannedCases, failed }: Progress): string =>
  `${requests} of ${plannedRequests} requests, ${cases} of ${plannedCases} cases, ${failed} failed`;

const writeReport = (path: string, text: string, flag: 'a' | 'w' = 'w'): void => {
  try {
    writeFileSync(path, text, { flag });
  } catch {
    throw new UsageError(`${path} cannot be written`);
  }
};

const exitCodeOf = (
  { status, totals }: ConformanceReport,
  { strict }: RunCommand,
  terminal: Terminal,
): 0 | 1 | 2 => {
  if (status === 'error') return 2;
  if (status === 'failed') return 1;
  if (!strict || totals.unsupported === 0) return 0;
  terminal.error(`svc-conformance: --strict, and ${totals.unsupported} cases are not supported`);
  return 1;
};
