#!/usr/bin/env node
/** The executable: hands the command line to `run` and its answer to the terminal. */
import { run } from './run.ts';

const { stdout, stderr } = process;

/** On a terminal the line is written over; elsewhere, as in a log, each state is a line. */
const progress = (text: string): void => {
  if (stderr.isTTY) stderr.write(`\r\u001b[K${text}`);
  else if (text !== '') stderr.write(`${text}\n`);
};

const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (process.argv[2] !== 'serve') process.exit(2);
      resolve();
    });
});

process.exitCode = await run(
  process.argv.slice(2),
  {
    colours: stdout.isTTY === true && !process.env.NO_COLOR,
    out: (text) => void stdout.write(`${text}\n`),
    error: (text) => void stderr.write(`${text}\n`),
    progress,
  },
  stopped,
);
