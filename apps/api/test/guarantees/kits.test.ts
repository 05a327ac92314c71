/** Runs what the READMEs of kits/python and kits/go show against a running API. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isDeep } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';

const folderOf = (kit: string): string => fileURLToPath(new URL(`../../../../kits/${kit}/`, import.meta.url));

interface Kit {
  readonly name: string;
  readonly folder: string;
  readonly probe: readonly [command: string, ...args: string[]];
  readonly programs: Readonly<Record<'register' | 'purchase' | 'events', string>>;
  /** The command that runs a program; `scratch` is a folder for build output. */
  readonly commandOf: (program: string, scratch: string) => readonly [command: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
}

const PYTHON = '/usr/bin/python3';
const KITS: readonly Kit[] = [
  {
    name: 'python',
    folder: folderOf('python'),
    probe: [PYTHON, '-c', 'import sys, cryptography; assert sys.version_info >= (3, 11)'],
    programs: {
      register: 'examples/register.py',
      purchase: 'examples/purchase.py',
      events: 'examples/events.py',
    },
    commandOf: (program) => [PYTHON, program],
    env: { PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' },
  },
  {
    name: 'go',
    folder: folderOf('go'),
    probe: ['go', 'version'],
    programs: {
      register: 'examples/register/main.go',
      purchase: 'examples/purchase/main.go',
      events: 'examples/events/main.go',
    },
    commandOf: (program, scratch) => {
      const built = join(scratch, 'program');
      const { status, stderr } = spawnSync('go', ['build', '-o', built, `./${program}`], {
        cwd: folderOf('go'),
        env: { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
        encoding: 'utf8',
        timeout: 120_000,
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return [built];
    },
    env: {},
  },
];

const deployment = withDeployment();

it.runIf(isDeep)('npm run kits refuses an unknown kit with its name, and runs nothing', () => {
  const runner = fileURLToPath(new URL('../../../../kits/differential/main.ts', import.meta.url));
  const program = ['--conditions=svc-source', '--import', import.meta.resolve('tsx'), runner];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...program, '--kit', 'rust'], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('--kit must be one of python, go, not rust');
});

describe.each(KITS)('the kit for $name', ({ name, folder, probe, programs, commandOf, env }) => {
  const [command, ...args] = probe;
  const isInstalled = spawnSync(command, args, { timeout: 20_000 }).status === 0;

  it('has a README that contains the programs and the commands that run here', () => {
    const readme = readFileSync(`${folder}README.md`, 'utf8');
    for (const program of [programs.purchase, programs.events])
      expect(readme).toContain(readFileSync(`${folder}${program}`, 'utf8'));
    // The command that the README tells a reader to type.
    for (const program of Object.values(programs))
      expect(readme).toContain(
        name === 'python' ? `python ${program}` : `go run ./${program.replace('/main.go', '')}`,
      );
    // Blocks that run without a service: Python's are doctests that its suite runs, Go's are its examples.
    if (name !== 'go') return;
    const examples = readFileSync(`${folder}example_test.go`, 'utf8');
    const bodies = [...examples.matchAll(/^func Example\w+\(\) \{\n(.*?)^\}/gms)].map(
      ([, body = '']) => body,
    );
    const blocks = [...readme.matchAll(/^```go\n(.*?)^```/gms)].map(([, block]) => block);
    const programsIn = blocks.filter((block) => !block?.startsWith('// Command'));
    expect(programsIn).toEqual(bodies.map((body) => body.replaceAll(/^\t/gm, '')));
  });

  /** Runs a program with only these variables; resolves with its output. */
  const run = async (program: string, variables: Readonly<Record<string, string>>): Promise<string> => {
    const scratch = mkdtempSync(join(tmpdir(), 'svc-kit-'));
    try {
      const [file, ...rest] = commandOf(program, scratch);
      const child = spawn(file, rest, {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 30_000,
        env: { ...env, SVC_URL: deployment.process.baseUrl, ...variables },
      });
      const ended = once(child, 'close');
      const output = await text(child.stdout);
      expect(await ended).toEqual([0, null]);
      return output;
    } finally {
      rmSync(scratch, { recursive: true });
    }
  };
  /** The variables that the first program prints. */
  const register = async (): Promise<Readonly<Record<string, string>>> => {
    const commands = await run(programs.register, { SVC_ADMIN_TOKEN: ADMIN_TOKEN });
    const variables = Object.fromEntries(
      [...commands.matchAll(/([A-Z_]+)='?([^\s']+)'?/g)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(variables).sort()).toEqual([
      ...['PRINCIPAL_DID', 'PRINCIPAL_SEED', 'SHOP_DID', 'SVC_PRINCIPAL_KEY', 'SVC_RP_KEY'],
    ]);
    return variables;
  };

  it.skipIf(!isInstalled || (name === 'go' && !isDeep))(
    'issues a Grant, verifies a Proof and revokes: ALLOW, then PROOF_REPLAYED, then AUTHORITY_REVOKED',
    async () => {
      const output = await run(programs.purchase, await register());
      expect(output.match(/true|false|[A-Z]+_[A-Z]+/g)).toEqual([
        ...['true', 'false', 'PROOF_REPLAYED', 'false', 'AUTHORITY_REVOKED'],
      ]);
    },
    180_000,
  );

  it.skipIf(!isInstalled || (name === 'go' && !isDeep))(
    'creates, pings, rotates, disables, enables, replays and deletes an event subscription',
    async () => {
      const output = await run(programs.events, await register());
      expect(output.match(/[a-z]+|\d+/g)?.join(' ')).toMatch(
        /^active 50 (1 )?2 true (ping true )?disabled owner active refused.*404/,
      );
    },
    180_000,
  );
});
