#!/usr/bin/env node
// The commands of this project, from a fresh clone with only Node and npm: installs what the lock file says (once),
// builds what is needed, runs the command. This file has no dependencies, because none are installed when it starts.
import { join } from 'node:path';
import { build, docsApi, types } from './lib/build.mjs';
import { check } from './lib/check.mjs';
import { install } from './lib/install.mjs';
import { inherited, pnpm, reportFailure, root, show, step, watchParent } from './lib/spawn.mjs';
import { takeBeyondSample, takeRepeat, test } from './lib/test.mjs';

const oldestNode = [20, 19];
const fromSources = ['--conditions=svc-source', '--import', 'tsx'];
const [command = '', ...parameters] = process.argv.slice(2);

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
    return test(parameters);
  },
  /**
   * Every guarantee in full. `--repeat N` runs everything N times, until something fails. `--beyond-sample` runs only
   * the files that have more in full than in `npm test`, for use after `npm test`.
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
  /** The deployment of `deploy/ha/` on this host, and the faults that are tested with it. */
  ha: () => runHa('ha'),
  'ha:disk': () => runHa('ha:disk'),
  'ha:overload': () => runHa('ha:overload'),
  'ha:test': () => runHa('ha:test'),
  /** Every published package as a file that installs without others. */
  async pack() {
    await install();
    await build();
    return show(process.execPath, ['--import', 'tsx', join('scripts', 'pack', 'main.ts'), ...parameters]);
  },
  /** Packs the published packages and checks them (docs/releasing.md); publishes nothing. */
  async release() {
    await install();
    await build();
    const main = join('scripts', 'release', 'main.ts');
    return show(process.execPath, ['--import', 'tsx', main, ...parameters]);
  },
  /** The API reference of the published packages, from their docstrings. */
  async 'docs:api'() {
    await install();
    return show(...docsApi(...parameters));
  },
  /** Only the guide, as a separate site. */
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
  /** The kits of other languages, which need their own tools. Builds the pages, because an API is started too. */
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
  check: () => check(parameters),
};

async function runHa(program) {
  await install();
  await build();
  return show(process.execPath, [join('bench', 'dist', 'bench.js'), program, ...parameters]);
}

async function runSource(...path) {
  await install();
  return show(process.execPath, [...fromSources, join(...path), ...parameters]);
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
