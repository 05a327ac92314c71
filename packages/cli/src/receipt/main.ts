#!/usr/bin/env node
/** The executable: passes the command line to `run`, and the answer to the terminal. */
import { exitWith } from '../exit-with.ts';
import { processTerminal } from '../terminal.ts';
import { run } from './run.ts';

const given = process.argv.slice(2);
// `svc-receipt < receipt.json`: a user who gives an input wants it verified.
const args = given.length === 0 && process.stdin.isTTY !== true ? ['verify', '-'] : given;

await exitWith(async () => {
  const terminal = processTerminal();
  const { exitCode, stdout, stderr } = await run(args, terminal);
  if (stdout !== '') terminal.print(stdout);
  if (stderr !== '') terminal.error(stderr);
  return exitCode;
});
