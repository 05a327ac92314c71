#!/usr/bin/env node
/** `svc-admin`: commands for operators. Exit codes: 0 success, 1 something was found, 2 it could not be determined. */
import { isMainThread } from 'node:worker_threads';
import { exitWith } from '@svc/cli/exit-with';
import { runPackThread } from '@svc/process';
import { runLine, tellError } from './run-line.ts';

// The thread that packs and proves days runs this program again.
if (isMainThread) {
  const { argv, env } = process;
  await exitWith(() => runLine(argv.slice(2), env), {
    isFinished: true,
    tell: (error) => tellError(error, env),
  });
} else void runPackThread();
