#!/usr/bin/env node
/** The executable: passes the command line to `run`. */
import { COULD_NOT_DECIDE, exitWith } from '../exit-with.ts';
import { processTerminal } from '../terminal.ts';
import { run } from './run.ts';

const args = process.argv.slice(2);

// A run ended by a signal says nothing about the endpoint. `serve` handles these signals itself.
if (args[0] !== 'serve')
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(COULD_NOT_DECIDE));

await exitWith(() => run(args, processTerminal({ logsProgress: true })));
