#!/usr/bin/env node
// The commands of this project, from a fresh clone with nothing but Node and npm: installs what the lock file says
// (once), builds what is needed, does the job. No dependencies, since none are installed yet when it starts.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, constants as osConstants, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listBeyondSample } from './beyond-sample.mjs';
import { forgetReviewedBuilds, installChoices } from './install-choices.mjs';
import { pinnedPnpm } from './pinned-pnpm.mjs';

const oldestNode = [20, 19];
const heartbeatMs = 10_000;
const parentPollMs = 250;
const fromSources = ['--conditions=svc-source', '--import', 'tsx'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const roots = ['packages', 'apps', 'bench', 'examples', 'kits', 'mutation', 'scripts', 'vectors'];
const pinned = pinnedPnpm(root);
const isWindows = process.platform === 'win32';
const [command = '', ...parameters] = process.argv.slice(2);
const { env: inherited } = process;

const commands = {
  async start() {
    await install();
    await build('--filter=@svc/api');
    return show(process.execPath, [join('apps', 'api', 'dist', 'start.js'), ...parameters]);
  },
  async test() {
    await install();
    await build();
    await types();
    return test();
  },
  /**
   * Every guarantee in full; `--repeat N` runs all of it so many times, as long as nothing fails. `--beyond-sample`: only the
   * files that have more in full than in `npm test`, for whoever has just run that.
   */
  async 'test:deep'() {
    const { times, rest } = takeRepeat(takeBeyondSample(parameters));
    await install();
    await build();
    for (let i = 1; i <= times; i++) {
      if (times > 1) console.log(`run ${i} of ${times}`);
      const code = await test(rest, { SVC_TEST_DEPTH: 'deep' });
      if (code !== 0) return code;
    }
    return 0;
  },
  async bench() {
    await install();
    await build();
    return show(...pnpm('--filter', '@svc/bench', '--silent', 'run', 'bench', ...parameters));
  },
  /** The deployment of `deploy/ha/` on this host, and the faults that are run against it. */
  ha: () => runHa('ha'),
  'ha:disk': () => runHa('ha:disk'),
  'ha:overload': () => runHa('ha:overload'),
  'ha:test': () => runHa('ha:test'),
  /** Every published package as a file that installs by itself. */
  async pack() {
    await install();
    await build();
    return show(process.execPath, ['--import', 'tsx', join('scripts', 'pack', 'main.ts'), ...parameters]);
  },
  /** Packs what is published and checks it (docs/releasing.md); publishes nothing. */
  async release() {
    await install();
    await build();
    const main = join('scripts', 'release', 'main.ts');
    return show(process.execPath, ['--import', 'tsx', main, ...parameters]);
  },
  /** The reference of what is published, from its docstrings. */
  async 'docs:api'() {
    await install();
    return show(...docsApi(...parameters));
  },
  /** The guide alone, as a site of its own. */
  async guide() {
    await install();
    const folder = join(root, '.data', 'guide');
    const code = await step(
      'writing the guide',
      ...pnpm('--filter', '@svc/pages', 'run', 'guide', '--to', folder),
    );
    console.log(
      `${join(folder, 'guide.html')}; serve it with any server that finds /guide/x in guide/x.html`,
    );
    return code;
  },
  /** The kits of other languages, which come with tools of their own. Pages, since an API is started too. */
  async kits() {
    await install();
    await build('--filter=@svc/pages');
    return runSource('kits', 'differential', 'main.ts');
  },
  /** The public conformance suite of MCP, with the guard and without. */
  'mcp:conformance': () => runSource('apps', 'api', 'test', 'mcp', 'conformance.ts'),
  async build() {
    await install();
    await build();
    return 0;
  },
  async types() {
    await install();
    await types();
    return 0;
  },
  check,
};

const install = async () => {
  const stampFile = join(root, 'node_modules', '.svc-install-stamp');
  if (!pinned.isThere()) await step('fetching pnpm', ...pinned.prepare());
  const stamp = installStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  forgetReviewedBuilds(root);
  await step('installing packages', ...pnpm('install', ...installChoices), { CI: 'true' });
  writeFileSync(stampFile, stamp);
};
const takeBeyondSample = (all) =>
  all.includes('--beyond-sample')
    ? [...all.filter((one) => one !== '--beyond-sample'), ...listBeyondSample(root)]
    : all;

function takeRepeat(all) {
  const at = all.indexOf('--repeat');
  if (at === -1) return { times: 1, rest: all };
  const times = Number(all[at + 1]);
  if (!Number.isInteger(times) || times < 1) throw new Error('--repeat needs a number of runs');
  return { times, rest: all.toSpliced(at, 2) };
}

async function runHa(program) {
  await install();
  await build();
  return show(process.execPath, [join('bench', 'dist', 'bench.js'), program, ...parameters]);
}

async function runSource(...path) {
  await install();
  return show(process.execPath, [...fromSources, join(...path), ...parameters]);
}

/** All of it, or what `only` says. */
const build = (only) =>
  step('building', ...turbo(...(only === undefined ? ['bundle', 'build'] : ['build', only])));
/** Natively, the whole tree at once: one program for each set of what code may find around it. */
const types = () => step('checking types', ...nativeTypeScript('-b'));

/** Everything that decides what an installation looks like. */
function installStamp() {
  const hash = createHash('sha256').update(
    `${pinned.program} ${process.version} ${process.platform} ${process.arch}`,
  );
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', ...manifests().map(({ file }) => file)];
  for (const file of files) {
    const path = join(root, file);
    hash.update(`\0${file}\0`).update(existsSync(path) ? readFileSync(path) : '');
  }
  return hash.digest('hex');
}

/** The package.json of the root and of every workspace package. */
function manifests() {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  return ['.', 'bench', 'examples', 'kits', 'mutation', 'vectors', ...folders.sort()]
    .map((folder) => ({ folder, file: join(folder, 'package.json') }))
    .filter(({ file }) => existsSync(join(root, file)))
    .map((found) => ({ ...found, manifest: JSON.parse(readFileSync(join(root, found.file), 'utf8')) }));
}

/** Runs vitest in the open, then counts from its report; a file that does not load is one failed test. */
async function test(rest = parameters, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-report-'));
  try {
    const report = join(folder, 'vitest.json');
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await show(process.execPath, [vitest, 'run', ...reporters, ...rest], env);
    const { passed, failed, skipped } = countTests(report);
    const failures = code !== 0 && failed === 0 ? 1 : failed;
    if (skipped > 0 && { ...inherited, ...env }.SVC_TEST_DEPTH !== 'deep')
      console.log(
        'a sample: what was skipped runs in npm run test:deep, where the programs it needs are installed',
      );
    console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    return code !== 0 ? code : Math.min(failures, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countTests(report) {
  if (!existsSync(report)) return { passed: 0, failed: 0, skipped: 0 };
  const result = JSON.parse(readFileSync(report, 'utf8'));
  const isBroken = ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((one) => one.status === 'failed');
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.testResults.filter(isBroken).length,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/** Everything a change must satisfy; `--without-tests`, for whoever has run them. Goes on after a failure, to name them all. */
async function check() {
  await install();
  const failed = [];
  const attempt = async (name, job) => {
    if ((await job().catch(reportFailure)) !== 0) failed.push(name);
  };
  await attempt('lint', () => step('linting', ...tool('biome', 'check', '.')));
  await attempt('SQL layout', () =>
    step('checking the layout of SQL', ...pnpm('run', 'format:sql', '--check')),
  );
  await attempt('build', () => build());
  await attempt('types', types);
  await attempt('imports', () =>
    step(
      'checking imports',
      ...tool('depcruise', '--config', '.dependency-cruiser.mjs', '--output-type', 'err', ...roots),
    ),
  );
  await attempt('generated files', checkGenerated);
  await attempt('unused code', () => step('looking for unused code', ...tool('knip')));
  await attempt('API reference', () => step('writing the API reference', ...docsApi()));
  await attempt('size', () => step('measuring sizes', ...tool('size-limit')));
  if (!parameters.includes('--without-tests')) await attempt('tests', () => test([]));
  console.log(failed.length === 0 ? 'everything holds' : `does not hold: ${failed.join(', ')}`);
  return Math.min(failed.length, 1);
}

/** Runs every generator (a package's `generate` script) and compares all files that git knows or would take. */
async function checkGenerated() {
  const before = await fileHashes();
  await step('generating files', ...pnpm('--recursive', '--if-present', 'run', 'generate'));
  const after = await fileHashes();
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const changed = names.filter((name) => before.get(name) !== after.get(name));
  if (changed.length > 0) console.log(`generated files were out of date:\n  ${changed.join('\n  ')}`);
  return Math.min(changed.length, 1);
}

async function fileHashes() {
  const { output, code } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  if (code !== 0) throw new StepFailure('listing files with git', code, output);
  const isFile = (name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile() === true;
  const hashOf = (name) =>
    createHash('sha256')
      .update(readFileSync(join(root, name)))
      .digest('hex');
  return new Map(
    output
      .split('\0')
      .filter(isFile)
      .map((name) => [name, hashOf(name)]),
  );
}

function pnpm(...args) {
  return [process.execPath, [pinned.program, ...args]];
}

/** Through pnpm, which so is on the path: turbo calls it. */
function turbo(...args) {
  return pnpm('exec', 'turbo', 'run', ...args, '--output-logs=errors-only');
}

/** `tsc` of TypeScript 7; the one in `.bin` belongs to the older, which makes declarations. */
function nativeTypeScript(...args) {
  return [process.execPath, [join(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), ...args]];
}

function docsApi(...args) {
  return [process.execPath, ['--import', 'tsx', join('scripts', 'docs-api', 'main.ts'), ...args]];
}

function tool(name, ...args) {
  return [join(root, 'node_modules', '.bin', name), args];
}

class StepFailure extends Error {
  constructor(label, code, output) {
    super(`${label} failed (exit code ${code})`);
    this.output = output;
  }
}

function reportFailure(problem) {
  if (problem instanceof StepFailure) process.stdout.write(`${problem.output.trimEnd()}\n`);
  console.error(problem instanceof StepFailure ? problem.message : problem);
  return 1;
}

/** One line: what is done, and how long it took. Its output is shown when it fails. */
async function step(label, program, args, env = {}) {
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

/** Runs with its output in the open. */
const show = async (program, args, env = {}) => (await run(program, args, env, 'inherit')).code;

/**
 * Every child is a group of its own: Ctrl-C then reaches us alone and each child once, through us. A step's helpers
 * are stopped as a group; a job in the open is told itself and takes care of what it started.
 */
function run(program, args, env = {}, output = 'pipe') {
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
        // It has ended.
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

/** npm's shell dies of a signal without passing it on; when it is gone, that counts as the signal. */
function watchParent() {
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

/** Our own Node and npm come first; what npm and pnpm keep goes beside the project where the home is read-only. */
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

function isNodeTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
}

if (isNodeTooOld()) {
  console.error(
    `Node ${oldestNode.join('.')} or later is needed; this is ${process.versions.node} (${process.execPath}).`,
  );
  process.exit(1);
}
if (!Object.hasOwn(commands, command)) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(commands).join('|')}`);
  process.exit(2);
}
if (inherited.npm_lifecycle_event !== undefined) watchParent();
commands[command]()
  .catch(reportFailure)
  .then((code) => {
    process.exitCode = code;
  });
