#!/usr/bin/env node
/** The executable: hands the command line to `run`. */
import { processTerminal } from '../terminal.ts';
import { run } from './run.ts';

const COULD_NOT_DECIDE = 2;
const args = process.argv.slice(2);

// A run that is ended by a signal has said nothing about the endpoint; `serve` ends in order.
if (args[0] !== 'serve')
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(COULD_NOT_DECIDE));

// Nobody reads any more: whoever waits for the exit code must not take it for a verdict.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', () => process.exit(COULD_NOT_DECIDE));

process.exitCode = await run(args, processTerminal({ logsProgress: true })).catch((error: unknown) => {
  // Not foreseen, and so no statement about the endpoint.
  console.error(error);
  return COULD_NOT_DECIDE;
});
