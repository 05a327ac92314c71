// Runs the programs of a command: with which environment, how their output is shown, and how signals reach them.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir, constants as osConstants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pinnedPnpm } from '../pinned-pnpm.mjs';

const heartbeatMs = 10_000;
const parentPollMs = 250;
const isWindows = process.platform === 'win32';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const pinned = pinnedPnpm(root);
export const { env: inherited } = process;

export function pnpm(...args) {
  return [process.execPath, [pinned.program, ...args]];
}

export function tool(name, ...args) {
  return [join(root, 'node_modules', '.bin', name), args];
}

export class StepFailure extends Error {
  constructor(label, code, output) {
    super(`${label} failed (exit code ${code})`);
    this.output = output;
  }
}

export function reportFailure(problem) {
  if (problem instanceof StepFailure) process.stdout.write(`${problem.output.trimEnd()}\n`);
  console.error(problem instanceof StepFailure ? problem.message : problem);
  return 1;
}

/** Prints one line: the step and its duration. The program's output is shown only if it fails. */
export async function step(label, program, args, env = {}) {
  const began = performance.now();
  process.stdout.write(`${label} …`);
  const elapsed = () => (performance.now() - began) / 1000;
  const heartbeat = setInterval(() => process.stdout.write(` ${elapsed().toFixed(0)} s …`), heartbeatMs);
  const { code, output } = await run(program, args, env);
  clearInterval(heartbeat);
  process.stdout.write(` ${elapsed().toFixed(1)} s\n`);
  if (code !== 0) throw new StepFailure(label, code, output);
  return 0;
}

/** Runs a program with its output shown. */
export const show = async (program, args, env = {}) => (await run(program, args, env, 'inherit')).code;

/**
 * Every child has its own process group. So Ctrl-C reaches only this process, which forwards it to each child once. A
 * step is signalled as a group, with its own children; a program whose output is shown is signalled alone and must stop
 * its children.
 */
export function run(program, args, env = {}, output = 'pipe') {
  return new Promise((finish) => {
    const chunks = [];
    const child = spawn(program, args, {
      cwd: root,
      env: { ...environment(), ...env },
      stdio: ['ignore', output, output],
      detached: !isWindows,
      shell: isWindows,
    });
    const forward = (signal) => {
      isSignalled = true;
      if (child.pid === undefined) return;
      if (output === 'pipe' && interruptedBy === null) interruptedBy = signal;
      try {
        process.kill(isWindows || output === 'inherit' ? child.pid : -child.pid, signal);
      } catch {
        // It has already ended.
      }
    };
    for (const signal of signals) process.on(signal, forward);
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    const end = (code) => {
      for (const signal of signals) process.removeListener(signal, forward);
      if (interruptedBy !== null) process.exit(128 + osConstants.signals[interruptedBy]);
      finish({ code, output: Buffer.concat(chunks).toString() });
    };
    child.on('error', (problem) => {
      chunks.push(Buffer.from(`${program}: ${problem.message}\n`));
      if (output === 'inherit') console.error(`${program}: ${problem.message}`);
      end(127);
    });
    child.on('close', (code, signal) => end(code ?? 128 + osConstants.signals[signal]));
  });
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
let isSignalled = false;
let interruptedBy = null;

/**
 * npm's shell is killed by a signal without forwarding it. When the parent is gone, this process acts as if signalled.
 */
export function watchParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    if (isSignalled) return;
    interruptedBy = 'SIGTERM';
    process.emit('SIGTERM', 'SIGTERM');
  }, parentPollMs);
  watch.unref();
}

/**
 * Our own Node and npm come first on the path. The caches of npm and pnpm go into the project if the home is read-only.
 */
function environment() {
  const path = [dirname(process.execPath), pinned.binFolder, inherited.PATH].filter(Boolean).join(delimiter);
  const common = { ...inherited, PATH: path, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  if (isWritable(inherited.npm_config_cache ?? join(homedir(), '.npm'))) return common;
  const home = join(root, '.data', 'home');
  mkdirSync(home, { recursive: true });
  const { XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, ...rest } = common;
  return {
    ...rest,
    HOME: home,
    npm_config_cache: join(home, '.npm'),
    npm_config_userconfig: inherited.npm_config_userconfig ?? join(homedir(), '.npmrc'),
  };
}

function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
