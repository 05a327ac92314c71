/**
 * `svc-conformance run|serve`. Exit codes of `run`: 0 passed, 1 failed, 2 could not decide (bad usage, no answer, an
 * endpoint that could not be queried).
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ConformanceReport } from '@svc/conformance';
import { type Progress, runConformance, VectorSetError } from '@svc/conformance';
import { createHttpTransport, createOwnEngine, readVectorSet, serveConformance } from '@svc/conformance/node';
import { UsageError } from '../command-line.ts';
import { describeRefusal } from '../read-command.ts';
import { painter, printable, printableJson } from '../report.ts';
import type { Terminal } from '../terminal.ts';
import { junitOf } from './junit.ts';
import { type Command, PROGRAM, parseCommand, type RunCommand } from './options.ts';
import { describeReport } from './report-text.ts';

/** Resolves with the exit code; `serve` resolves when the terminal stops it. */
export const run = async (args: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> => {
  try {
    return await runCommand(parseCommand(args), terminal);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof VectorSetError)) throw error;
    if (args.includes('--json'))
      terminal.print(printableJson({ status: 'error', error: printable(error.message) }));
    else terminal.error(describeRefusal(PROGRAM.name, error));
    return 2;
  }
};

const runCommand = async (command: Command, terminal: Terminal): Promise<0 | 1 | 2> => {
  switch (command.name) {
    case 'tell':
      terminal.print(command.text);
      return 0;
    case 'serve':
      return serve(command, terminal);
    case 'run':
      return runAgainst(command, terminal);
  }
};

const serve = async ({ host, port }: Extract<Command, { name: 'serve' }>, terminal: Terminal): Promise<0> => {
  const stop = terminal.stop();
  const server = await serveConformance(createOwnEngine(), { host, port }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    throw new UsageError(`${host}, port ${port}, cannot be listened on: ${code}`);
  });
  terminal.print(`svc-conformance-http v1 at ${server.url}`);
  if (!stop.aborted) await once(stop, 'abort');
  await server.close();
  return 0;
};

const runAgainst = async (command: RunCommand, terminal: Terminal): Promise<0 | 1 | 2> => {
  const { url, requestMs, runMs } = command;
  // Opens the file before the run, so that an unwritable file fails before the run and not after it.
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
  if (!command.quiet) terminal.progress(null);
  if (command.junit !== undefined) writeReport(command.junit, junitOf(report));
  terminal.print(
    command.json ? printableJson(report) : describeReport(report, url, painter(terminal.colours)),
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
