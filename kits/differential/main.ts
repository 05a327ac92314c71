/**
 * `npm run kits` runs, for each kit, its own tests with every vector that concerns it, a conformance run, and random
 * questions to the kit and to the TypeScript libraries, until the requested number of answers agreed. Then standard
 * JOSE libraries verify with the JWK Set of a running API. Missing tools are installed from Debian.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runConformance } from '@svc/conformance';
import { createHttpTransport, readVectorSet } from '@svc/conformance/node';
import { Random } from '@svc/vectors/src/random/random.ts';
import { ANSWERS, type Answer, agrees, type Question } from './answers.ts';
import { findWrongCount } from './published-counts.ts';
import { nextQuestion } from './questions.ts';

const USAGE = `usage: npm run kits -- [options]
  --kit NAME      python or go; both unless given
  --cases N       random questions to each kit, default 100000
  --seed N        of the random numbers, default 1
  --skip-missing  pass over a kit whose tools are not installed, and install nothing`;

interface Kit {
  readonly name: string;
  readonly folder: string;
  /** Debian packages. */
  readonly packages: readonly string[];
  readonly probe: readonly string[];
  /** Commands that must succeed, and print how much they checked. */
  readonly checks: readonly (readonly string[])[];
  /**
   * Commands that prepare the program, in order, and the program that answers questions. `scratch` is a temporary
   * folder.
   */
  readonly prepare: (scratch: string) => readonly (readonly string[])[];
  readonly serve: (scratch: string) => readonly string[];
  /** The commands that build and start an endpoint for conformance runs. The endpoint chooses and prints its port. */
  readonly buildEndpoint: (scratch: string) => readonly string[] | null;
  readonly endpoint: (scratch: string) => readonly string[];
}

const folderOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const PYTHON = '/usr/bin/python3';

const KITS: readonly Kit[] = [
  {
    name: 'python',
    folder: folderOf('python'),
    packages: ['python3-cryptography', 'python3-pytest', 'python3-hatchling', 'python3-venv', 'mypy'],
    probe: [
      PYTHON,
      '-c',
      'import sys, cryptography, pytest, hatchling, ensurepip, mypy; assert sys.version_info >= (3, 11)',
    ],
    checks: [
      [PYTHON, '-m', 'mypy'],
      [PYTHON, '-m', 'pytest', '-q', '--no-header', '-p', 'no:cacheprovider'],
    ],
    // As the README says: installed, and used from there.
    prepare: (scratch) => {
      const python = join(scratch, 'venv/bin/python');
      const install = ['install', '--no-index', '--no-deps', '--disable-pip-version-check'];
      return [
        [PYTHON, '-m', 'hatchling', 'build', '-t', 'wheel', '-d', scratch],
        [PYTHON, '-m', 'venv', '--system-site-packages', join(scratch, 'venv')],
        [python, '-m', 'pip', ...install, '--find-links', scratch, 'svc-kit'],
        [python, 'tests/installed.py'],
      ];
    },
    serve: () => [PYTHON, 'tests/differential.py'],
    buildEndpoint: () => null,
    endpoint: () => [PYTHON, '-m', 'svc_kit.conformance', '0'],
  },
  {
    name: 'go',
    folder: folderOf('go'),
    packages: ['golang-go'],
    probe: ['go', 'version'],
    checks: [
      ['go', 'vet', './...'],
      ['go', 'test', '-count=1', '-v', './...'],
    ],
    prepare: (scratch) => [['go', 'test', '-c', '-o', join(scratch, 'kit.test')]],
    serve: (scratch) => [join(scratch, 'kit.test'), '-test.run', '^TestDifferential$'],
    buildEndpoint: (scratch) => ['go', 'build', '-o', join(scratch, 'endpoint'), './cmd/conformance'],
    endpoint: (scratch) => [join(scratch, 'endpoint'), '0'],
  },
];

const run = (command: readonly string[], cwd: string): { readonly ok: boolean; readonly output: string } => {
  const [program = '', ...args] = command;
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 300_000,
  });
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}` };
};

const install = ({ packages }: Pick<Kit, 'packages'>): void => {
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  spawnSync('sh', ['-c', command], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  });
};

/** A vector file that a kit runs again in another way counts only once. */
const AGAIN = /of_any_numbers$/;

/** The numbers of vectors, from the lines in which the kit's own tests report them. */
const check = ({ checks, folder }: Kit): readonly number[] =>
  checks.flatMap((command) => {
    const { ok, output } = run(command, folder);
    const said = output.split('\n').filter((line) => /passed|vectors|no issues|^ok/.test(line));
    console.log(`  ${command.join(' ')}${said.map((line) => `\n    ${line.trim()}`).join('')}`);
    if (!ok) throw new Error(output);
    return said
      .filter((line) => !AGAIN.test(line))
      .flatMap((line) => /(\d+) vectors of /.exec(line)?.slice(1).map(Number) ?? []);
  });

/** The result of the kit's endpoint: the number of published vectors for each op that it supports. */
const runConformanceOf = async (kit: Kit, scratch: string): Promise<ReadonlyMap<string, number>> => {
  const build = kit.buildEndpoint(scratch);
  const built = build === null ? null : run(build, kit.folder);
  if (built?.ok === false) throw new Error(built.output);
  const [program = '', ...args] = kit.endpoint(scratch);
  const env = { ...process.env, PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' };
  const child = spawn(program, args, { cwd: kit.folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let url = '';
    await withDeadline(child, 'say where it listens', async () => {
      const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
      url = /http:\S+/.exec(String(value))?.[0] ?? '';
    });
    const report = await runConformance({
      ...{ url, vectors: readVectorSet(), transport: createHttpTransport(), isLibrary: true },
      clock: { nowMs: () => performance.now() },
    });
    const { implementation } = report.endpoint ?? {};
    console.log(
      `  svc-conformance run --library: ${implementation?.name} ${implementation?.version}, ${report.status}`,
    );
    for (const { op, totals } of report.sets)
      console.log(
        `    ${op.padEnd(12)} ${String(totals.passed).padStart(7)} of ${totals.cases}${totals.unsupported === totals.cases ? ', not supported' : ' passed'}`,
      );
    if (report.status !== 'passed') throw new Error(JSON.stringify(report));
    return new Map(report.sets.map(({ op, totals }) => [op, totals.passed]));
  } finally {
    child.kill('SIGKILL');
  }
};

/** Standard libraries of other languages that verify with the JWK Set: Debian's, and the JDK's own Ed25519. */
const STOCK = ['python3-jwt', 'python3-jwcrypto', 'default-jdk-headless'];
const STOCK_PROBES = [
  [PYTHON, '-c', 'import jwt, jwcrypto'],
  ['java', '-m', 'jdk.compiler/com.sun.tools.javac.Main', '-version'],
];
const STOCK_TEST = 'apps/api/test/endpoints/public/get-service-jwks.test.ts';

const verifyByStockLibraries = (skipsMissing: boolean): void => {
  const cwd = folderOf('..');
  const isThere = STOCK_PROBES.every((probe) => run(probe, cwd).ok);
  if (!isThere && !skipsMissing) install({ packages: STOCK });
  const vitest = join(cwd, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'api', '--reporter=verbose', STOCK_TEST];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...process.env, SVC_TEST_DEPTH: 'deep', NO_COLOR: '1', FORCE_COLOR: '0' },
    encoding: 'utf8',
    timeout: 300_000,
  });
  console.log('stock JOSE libraries');
  for (const line of stdout.split('\n').filter((one) => /[✓↓×]/.test(one)))
    console.log(`  ${line.replace(/\|api\|.*\.test\.ts > /, '').trim()}`);
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
};

const AT_ONCE = 500;
/** For one batch of questions on a machine with other load; usually a batch takes about a second. */
const BATCH_DEADLINE_MS = 60_000;

/** Kills the kit if the work takes too long, which ends the wait for its answers. */
const withDeadline = async (
  child: ChildProcess,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> => {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, BATCH_DEADLINE_MS);
  try {
    await work();
  } catch (problem) {
    throw isLate ? new Error(`the kit did not ${what} within ${BATCH_DEADLINE_MS / 1_000} s`) : problem;
  } finally {
    clearTimeout(timer);
  }
  if (isLate) throw new Error(`the kit did not ${what} within ${BATCH_DEADLINE_MS / 1_000} s`);
};

const startKit = ({ serve, folder: cwd }: Kit, scratch: string) => {
  const [program = '', ...args] = serve(scratch);
  const env = { ...process.env, SVC_KIT_DIFFERENTIAL: '1', PYTHONDONTWRITEBYTECODE: '1' };
  return spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
};

/** Asks the kit questions in batches, so that neither side always waits for the other. */
const ask = async (
  child: ReturnType<typeof startKit>,
  cases: number,
  seed: number,
): Promise<ReadonlyMap<string, number>> => {
  const ended = once(child, 'close');
  // A kit that ends early is detected by its missing answer.
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const random = new Random(seed);
  const counts = new Map<string, number>();
  for (let asked = 0; asked < cases; asked += AT_ONCE) {
    const questions = Array.from({ length: Math.min(AT_ONCE, cases - asked) }, () => nextQuestion(random));
    await withDeadline(child, `answer ${questions.length} questions`, async () => {
      for (const question of questions) child.stdin.write(`${JSON.stringify(question)}\n`);
      for (const question of questions) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`the kit ended at ${JSON.stringify(question)}`);
        const ours = await answer(question);
        if (!agrees(ours, JSON.parse(value)))
          throw new Error(`the answers differ: ${JSON.stringify({ ours, theirs: value, question })}`);
        const kind = `${question.op} ${ours === null || ours === false || Object(ours).codes ? 'refused' : 'right'}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    });
  }
  child.stdin.end();
  await withDeadline(child, 'end', () => ended);
  return counts;
};

const compare = async (kit: Kit, cases: number, seed: number): Promise<ReadonlyMap<string, number>> => {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-kit-'));
  const vectors = check(kit);
  try {
    for (const command of kit.prepare(scratch)) {
      const { ok, output } = run(command, kit.folder);
      if (!ok) throw new Error(output);
      for (const line of output.split('\n').filter((one) => one.startsWith('the wheel')))
        console.log(`  ${line}`);
    }
    const ops = await runConformanceOf(kit, scratch);
    const wrong = findWrongCount(readFileSync(join(folderOf('..'), 'docs/testing.md'), 'utf8'), kit.name, {
      ...{ vectors, ops },
    });
    if (wrong !== null) throw new Error(wrong);
    console.log('  as many as docs/testing.md says');
    const child = startKit(kit, scratch);
    try {
      return await ask(child, cases, seed);
    } finally {
      child.kill('SIGKILL');
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const answer = async ({ op, ...input }: Question): Promise<Answer> => ANSWERS[op](input as never);

const report = (counts: ReadonlyMap<string, number>): void => {
  const ops = [...new Set([...counts.keys()].map((kind) => kind.split(' ')[0] ?? ''))].sort();
  for (const op of ops) {
    const [right = 0, refused = 0] = ['right', 'refused'].map((way) => counts.get(`${op} ${way}`) ?? 0);
    console.log(
      `    ${op.padEnd(12)} ${String(right).padStart(7)} right ${String(refused).padStart(7)} refused`,
    );
  }
};

const usageError = (problem: string): never => {
  console.error(`${problem}\n${USAGE}`);
  process.exit(2);
};

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        kit: { type: 'string' },
        cases: { type: 'string', default: '100000' },
        seed: { type: 'string', default: '1' },
        'skip-missing': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (problem) {
    return usageError((problem as Error).message);
  }
};

const values = readOptions();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (!/^[1-9][0-9]{0,7}$/.test(values.cases))
  usageError(`--cases must be a number, 1 to 99999999, not ${values.cases}`);
if (!/^[0-9]{1,9}$/.test(values.seed))
  usageError(`--seed must be a number, 0 to 999999999, not ${values.seed}`);
const chosen = KITS.filter(({ name }) => values.kit === undefined || values.kit === name);
if (chosen.length === 0)
  usageError(`--kit must be one of ${KITS.map(({ name }) => name).join(', ')}, not ${values.kit}`);
for (const kit of chosen) {
  if (!run(kit.probe, kit.folder).ok && !values['skip-missing']) install(kit);
  if (!run(kit.probe, kit.folder).ok) {
    console.log(`${kit.name}: skipped, ${kit.packages.join(', ')} of Debian are not installed`);
    if (!values['skip-missing']) process.exitCode = 1;
    continue;
  }
  console.log(kit.name);
  const counts = await compare(kit, Number(values.cases), Number(values.seed));
  report(counts);
  console.log(
    `  ${values.cases} random questions (seed ${values.seed}): every answer as the TypeScript libraries give it`,
  );
}
if (values.kit === undefined) verifyByStockLibraries(values['skip-missing']);
