#!/usr/bin/env node
/** The executable: hands the command line to `run` and its answer to the terminal. */
import { run } from './run.ts';
import { processTerminal } from './terminal.ts';

const given = process.argv.slice(2);
// `svc-receipt < receipt.json`: whoever gives an input wants it looked at.
const args = given.length === 0 && process.stdin.isTTY !== true ? ['verify', '-'] : given;
const { exitCode, stdout, stderr } = await run(
  args,
  process.stdout.isTTY === true && !process.env.NO_COLOR,
  processTerminal(),
);
if (stdout !== '') process.stdout.write(`${stdout}\n`);
if (stderr !== '') process.stderr.write(`${stderr}\n`);
process.exitCode = exitCode;
