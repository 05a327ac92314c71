#!/usr/bin/env node
/** The executable: hands the command line to `run` and its answer to the terminal. */
import { run } from './run.ts';

const { stdout, stderr } = process;
const COULD_NOT_DECIDE = 2;

/** On a terminal the line is written over; elsewhere, as in a log, each state is a line. */
const progress = (text: string): void => {
  if (stderr.isTTY) stderr.write(`\r\u001b[K${text}`);
  else if (text !== '') stderr.write(`${text}\n`);
};

const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (process.argv[2] !== 'serve') process.exit(COULD_NOT_DECIDE);
      resolve();
    });
});

// Nobody reads any more: whoever waits for the exit code must not take it for a verdict.
for (const stream of [stdout, stderr]) stream.on('error', () => process.exit(COULD_NOT_DECIDE));

process.exitCode = await run(
  process.argv.slice(2),
  {
    colours: stdout.isTTY === true && !process.env.NO_COLOR,
    out: (text) => void stdout.write(`${text}\n`),
    error: (text) => void stderr.write(`${text}\n`),
    progress,
  },
  stopped,
).catch((error: unknown) => {
  // Not foreseen, and so no statement about the endpoint.
  console.error(error);
  return COULD_NOT_DECIDE;
});
