#!/usr/bin/env node
/** The executable: hands the command line to `run` and its answer to the terminal. */
import { run } from './run.ts';
import { processTerminal } from './terminal.ts';

const { exitCode, stdout, stderr } = await run(
  process.argv.slice(2),
  process.stdout.isTTY === true && !process.env.NO_COLOR,
  processTerminal(),
);
if (stdout !== '') process.stdout.write(`${stdout}\n`);
if (stderr !== '') process.stderr.write(`${stderr}\n`);
process.exitCode = exitCode;
