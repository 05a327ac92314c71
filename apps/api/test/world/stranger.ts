/**
 * Follows a page of the guide as a reader does who has only a clone: pastes its blocks one by one into a shell in an
 * empty folder, beside `npm start`. The text behind a fence says what to do with its block:
 *
 * - `sh`: paste it into the terminal;
 * - `sh terminal`: paste it into another terminal in the same folder, where it keeps running;
 * - `sh clone`: run in the clone to pack the packages and start the service; `startClone` replaces it, with the
 *   settings that any page sets of `SETTINGS`;
 * - `text`: the output of the block before, on both streams. `…` stands for the rest of a line, or alone in a line for
 *   any lines.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '@svc/process';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { startProgram } from '@svc/testkit/process/start-program';
import { type Block, fencedBlocks } from '@svc/testkit/sdk/readme-block';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const READY = 'Ctrl-C stops everything';
/** Settings that a page may put before `npm start`. They change nothing for the other pages. */
const SETTINGS = {
  SVC_SSF: '1',
  SVC_OUTBOUND_MAP: '{"hooks.example":"http://127.0.0.1:3000"}',
};
const TO_CLONE = ['', 'SVC_SSF=1 ', `SVC_OUTBOUND_MAP='${SETTINGS.SVC_OUTBOUND_MAP}' `].map(
  (setting) => `npm run pack && ${setting}npm start`,
);
/**
 * Ports in the pages: of shops, and of the service's admin port. They are replaced, since another program may use them
 * here.
 */
const SHOP_PORT = '3000';
const { adminPort: ADMIN_PORT } = readConfig({});
/** Debian's programs are found before those of a version manager on this machine. */
const PATH = [dirname(process.execPath), '/usr/bin', '/bin', process.env.PATH].join(delimiter);
const BLOCK_MS = 120_000;

interface Packing {
  listPublished(): readonly { readonly manifest: { readonly name: string } }[];
  pack(one: object, to: string): string;
}
const load = async (name: string): Promise<Partial<Packing>> => import(`${ROOT}scripts/${name}.ts`);

export interface Clone {
  /** A home with the clone in `svc`, the packages packed and the service running. */
  readonly home: string;
  /** The ports in the pages, each with the port that replaces it. */
  readonly ports: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/**
 * Makes the state that `npm run pack && npm start` leaves, for these packages: from the build, with programs built from
 * the sources.
 */
export async function startClone(packages: readonly string[]): Promise<Clone> {
  const home = mkdtempSync(join(tmpdir(), 'svc-stranger-'));
  const dataDir = join(home, 'svc', '.data');
  mkdirSync(join(dataDir, 'packages'), { recursive: true });
  // Where root runs the test, the database runs as another user, who must be able to enter these folders.
  for (const folder of [home, join(home, 'svc'), dataDir]) chmodSync(folder, 0o711);
  symlinkSync(join(ROOT, 'examples'), join(home, 'svc', 'examples'));
  const [port = 0, adminPort = 0, shopPort = 0] = await findFreePorts(3);
  const service = startProgram(programFile('apps/api', 'start.js'), {
    ...{ SVC_DATA_DIR: dataDir, SVC_PORT: `${port}`, SVC_ADMIN_PORT: `${adminPort}` },
    ...{ ...SETTINGS, SVC_OUTBOUND_MAP: SETTINGS.SVC_OUTBOUND_MAP.replace(SHOP_PORT, `${shopPort}`) },
  });
  const stop = async () => {
    await service.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    // Loaded while the service starts.
    const { listPublished } = (await load('release/packages')) as Packing;
    const { pack } = (await load('pack/pack')) as Packing;
    for (const one of listPublished())
      if (packages.includes(one.manifest.name)) pack(one, join(dataDir, 'packages'));
    await service.line(READY);
  } catch (error) {
    await stop();
    throw error;
  }
  return { home, ports: { [ADMIN_PORT]: adminPort, [SHOP_PORT]: shopPort }, stop };
}

interface Step extends Block {
  /** The output in the page; null where it shows none. */
  readonly said: string | null;
}

export const stepsOf = (page: string): readonly Step[] => {
  const blocks = fencedBlocks(readFileSync(join(ROOT, 'docs/guide', `${page}.md`), 'utf8'));
  return blocks.flatMap((block, i) => {
    const next = blocks[i + 1];
    // TypeScript blocks are programs of examples/, which readme-example.test.ts runs.
    if (['text', 'ts'].includes(block.language)) return [];
    return [{ ...block, said: next?.language === 'text' ? next.code.trimEnd() : null }];
  });
};

/** A pattern that matches the whole output. */
export const patternOf = (said: string): RegExp =>
  new RegExp(
    `^${said
      .split('\n')
      .map((line) =>
        line.trim() === '…'
          ? '[\\s\\S]*'
          : line
              .split('…')
              .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
              .join('.*'),
      )
      .join('\n')
      .replaceAll('\n[\\s\\S]*', '[\\s\\S]*')}$`,
  );

/** A shell and its output. It has `set -e`, so it ends at the first command that fails. */
class Terminal {
  output = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #waiting: (() => void)[] = [];

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // A process group of its own, so that its commands end with it.
    this.#child = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: 'pipe', detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk;
        this.#look();
      });
    this.#ended = once(this.#child, 'close').finally(() => this.#look());
    this.#child.stdin?.write('exec 2>&1; set -e -o pipefail\n');
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one();
  }

  /** The block's commands get empty input, since they must not read the next block. */
  paste(file: string, mark: string): void {
    this.#child.stdin?.write(`. '${file}' < /dev/null; printf '%s\\n' '${mark}'\n`);
  }

  async until(isThere: (output: string) => boolean, what: string): Promise<void> {
    const deadline = Date.now() + BLOCK_MS;
    while (!isThere(this.output)) {
      const left = deadline - Date.now();
      if (this.#child.exitCode !== null || this.#child.signalCode !== null || left <= 0)
        throw new Error(`${what}\n${left <= 0 ? 'took too long' : 'failed'}:\n${this.output}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  async close(): Promise<void> {
    try {
      process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
    } catch {
      // The process has ended already.
    }
    await this.#ended;
  }
}

export interface Followed {
  readonly code: string;
  readonly said: string | null;
  readonly printed: string;
}

/**
 * Rejects with the block and its output where a command fails. `env` adds to the environment, for example the address
 * of a registry.
 */
export async function follow(
  page: string,
  { home, ports }: Clone,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Followed[]> {
  const folder = mkdtempSync(join(home, 'empty-'));
  const notes = mkdtempSync(join(home, 'blocks-'));
  const here = (text: string): string =>
    Object.entries(ports).reduce(
      (done, [from, to]) => done.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), `${to}`),
      text,
    );
  const all = {
    ...{ HOME: home, PATH, npm_config_cache: join(home, '.npm') },
    ...{ npm_config_update_notifier: 'false', npm_config_audit: 'false', npm_config_fund: 'false' },
    ...env,
  };
  const terminals = [new Terminal(folder, all)];
  const [main] = terminals as [Terminal];
  /** The present folder of its shell. */
  const where = async (): Promise<string> => {
    const file = join(notes, 'where');
    writeFileSync(file, 'pwd\n');
    return run(main, file, 'pwd', null);
  };
  const followed: Followed[] = [];
  try {
    for (const [i, { language, code, said }] of stepsOf(page).entries()) {
      const file = join(notes, `${i}.sh`);
      writeFileSync(file, here(code));
      const expected = said === null ? null : here(said);
      if (language === 'sh clone') {
        if (!TO_CLONE.includes(code.trim())) throw new Error(`${page}: in the clone it is ${TO_CLONE[0]}`);
      } else if (language === 'sh terminal') {
        const other = new Terminal(await where(), all);
        terminals.push(other);
        const printed = await run(other, file, code, expected ?? '');
        followed.push({ code, said: expected, printed });
      } else if (language === 'sh')
        followed.push({ code, said: expected, printed: await run(main, file, code, null) });
      else throw new Error(`${page}: a block is ${language}`);
    }
  } finally {
    await Promise.all(terminals.map((one) => one.close()));
  }
  return followed;
}

/**
 * Runs a block; resolves with its output once it has ended or, where it keeps running, once it has printed `awaited`.
 */
const run = async (
  terminal: Terminal,
  file: string,
  code: string,
  awaited: string | null,
): Promise<string> => {
  const before = terminal.output.length;
  const mark = `\u0001${file}\u0001`;
  const printed = () => terminal.output.slice(before).split(mark)[0]?.trim() ?? '';
  terminal.paste(file, mark);
  await terminal.until(
    (output) => (awaited === null ? output.includes(mark) : patternOf(awaited).test(printed())),
    code,
  );
  return printed();
};
