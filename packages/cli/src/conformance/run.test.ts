import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { readVectorSet } from '@svc/conformance/node';
import { type JsonValue, portableCrypto, sha256Of } from '@svc/protocol';
import { type Change, DESCRIPTION, perfectAnswer } from '@svc/testkit/conformance/perfect-endpoint';
import { compile } from '@svc/testkit/conformance/schemas';
import { programFile } from '@svc/testkit/process/program-file';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, describe, expect, it } from 'vitest';
import { silentTerminal } from '../terminal.ts';
import { junitOf } from './junit.ts';
import { run } from './run.ts';

const published = readVectorSet();
const folder = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a set of vectors: files by path. */
const writeSet = (place: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(join(place, 'evaluate'), { recursive: true });
  const hashed = Object.entries(files).map(([path, text]) => ({
    path,
    sha256: sha256Of(portableCrypto, text),
  }));
  const lines = hashed.map(({ path, sha256 }) => `${sha256.slice('sha256:'.length)}  ${path}\n`);
  const sha256 = sha256Of(portableCrypto, lines.join(''));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(place, path), text);
  writeFileSync(
    join(place, 'manifest.json'),
    JSON.stringify({ conformance_version: published.conformanceVersion, sha256, files: hashed }),
  );
};

/** Two of the hundreds of evaluations, and all other cases: most tests depend on no single case. */
const few = join(folder, 'few');
const textOf = (path: string) =>
  readFileSync(new URL(`../../../../vectors/${path}`, import.meta.url), 'utf8');
const evaluations = ['evaluate/allow-purchase.json', 'evaluate/everything-wrong.json'];
writeSet(
  few,
  Object.fromEntries(
    [...evaluations, 'htu.json', 'jcs.json', 'jti.json'].map((path) => [path, textOf(path)]),
  ),
);
const vectors = isDeep ? published : readVectorSet(few);

const serve = async (change?: Change, description?: object): Promise<string> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(perfectAnswer(published, Buffer.concat(chunks).toString(), change, description));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

interface Printed {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
  readonly progress: readonly (string | null)[];
}
const known = new Map<string, Promise<Printed>>();

/** A run with few vectors in a sample, and with all in a deep run. */
const runFew = (url: string, options: readonly string[] = [], colours = false): Promise<Printed> =>
  command(['run', url, ...(isDeep ? [] : ['--vectors', few]), ...options], colours);

/** The same for endpoints that always answer alike. Tests with the same arguments share one run. */
const said = (url: string, ...options: readonly string[]): Promise<Printed> => {
  const key = JSON.stringify([url, options]);
  const found = known.get(key) ?? runFew(url, options);
  known.set(key, found);
  return found;
};

const command = async (args: readonly string[], colours = false): Promise<Printed> => {
  const printed = { out: '', error: '', progress: [] as (string | null)[] };
  const exitCode = await run(args, {
    ...silentTerminal,
    colours,
    print: (text) => {
      printed.out += `${text}\n`;
    },
    error: (text) => {
      printed.error += `${text}\n`;
    },
    progress: (text) => {
      printed.progress.push(text);
    },
  });
  return { exitCode, ...printed };
};

const right = await serve();
const wrong = await serve(
  (op, id, result: JsonValue): JsonValue => (op === 'isJti' && id.endsWith('/0') ? 'yes' : result),
);
const poor = await serve(undefined, { ...DESCRIPTION, ops: ['evaluate'], profiles: ['svc-base-v1'] });
const isReport = compile('conformance-report.schema.json');

describe('svc-conformance run', () => {
  it('exits with 0 and shows what passed', async () => {
    const { exitCode, out, error } = await command(['run', right]);
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
    expect(out).toMatch(/^PASSED\n {2}endpoint /);
    expect(out).toContain(`  vectors        ${published.conformanceVersion}, ${published.sha256}\n`);
    expect(out).toMatch(/evaluate {7}(\d+) of \1 passed\n/);
  });

  it('exits with 1 and names the case, its place, the expected and the received result', async () => {
    const { exitCode, out } = await said(wrong);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^FAILED\n/);
    expect(out).toContain('  - isJti jti.json#/cases/0: the result must be true, not "yes"\n');
    expect(out).toMatch(/isJti {10}(\d+) of \d+ passed, 1 failed\n/);
  });

  it('exits with 2 where no endpoint answers', async () => {
    const { exitCode, out } = await command(['run', 'http://127.0.0.1:1/', '--timeout', '5']);
    expect(exitCode).toBe(2);
    expect(out).toMatch(/^COULD NOT DECIDE\n {2}reason {9}describe: no complete answer/);
  });

  it('reports its progress in requests and cases, unless -q is given', async () => {
    const { progress } = await said(right);
    expect(progress.at(-2)).toMatch(/^(\d+) of \1 requests, (\d+) of \2 cases, 0 failed$/);
    expect(progress.at(-1)).toBeNull();
    expect((await runFew(right, ['-q'])).progress).toEqual([]);
  });

  it.each([
    ['passed', right],
    ['failed', wrong],
    ['error', 'http://127.0.0.1:1/'],
  ])('prints one JSON object of the published schema with --json: %s', async (status, url) => {
    const { out } = await said(url, '--json');
    const report = JSON.parse(out);
    expect(report.status).toBe(status);
    expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true);
  });

  it('counts unsupported cases apart, and exits with 1 for them with --strict', async () => {
    const lenient = await runFew(poor);
    expect(lenient.exitCode).toBe(0);
    expect(lenient.out).toMatch(/isJti {10}0 of (\d+) passed, \1 unsupported\n/);
    const strict = await runFew(poor, ['--strict']);
    expect(strict.exitCode).toBe(1);
    expect(strict.error).toMatch(/--strict, and \d+ cases are not supported/);
  });

  it('tests a library without evaluate only where --library is given', async () => {
    const library = await serve(undefined, { ...DESCRIPTION, ops: ['isJti'], profiles: [] });
    const asEngine = await runFew(library);
    expect([asEngine.exitCode, asEngine.out]).toEqual([2, expect.stringContaining('among them evaluate')]);
    const { exitCode, out } = await runFew(library, ['--library', '--json']);
    const report = JSON.parse(out);
    expect([exitCode, report.status]).toEqual([0, 'passed']);
    expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true);
    const { passed, unsupported, cases } = report.totals;
    expect([passed > 0, passed + unsupported]).toEqual([true, cases]);
  });

  it('escapes the answers of the endpoint in its JUnit XML', async () => {
    const hostile = await serve((op, _, result): JsonValue => (op === 'sha256' ? '"><failure>&' : result));
    const file = join(folder, 'junit.xml');
    expect((await runFew(hostile, ['--junit', file])).exitCode).toBe(1);
    const xml = readFileSync(file, 'utf8');
    const failed = vectors.cases.filter(({ op }) => op === 'sha256').length;
    expect(xml).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="svc-conformance sha256:[0-9a-f]{64}" /,
    );
    expect(xml.match(/<failure message="/g)).toHaveLength(failed);
    expect(xml).toContain(`tests="${vectors.cases.length}" failures="${failed}" errors="0" skipped="0"`);
    expect(xml.match(/<testcase /g)).toHaveLength(vectors.cases.length);
    expect(xml).toContain('&quot;&gt;&lt;failure&gt;&amp;');
  });

  it('replaces characters that XML cannot hold', async () => {
    const report = JSON.parse((await said(wrong, '--json')).out);
    report.sets.at(-1).cases[0].problem = 'a\u0000b\u001bc\ud800d\uffffe';
    expect(junitOf(report)).toContain('message="a\ufffdb\ufffdc\ufffdd\ufffde"');
  });

  it('prints colours only where they are allowed', async () => {
    expect((await runFew(right, [], true)).out).toContain('\u001b[32mPASSED\u001b[0m');
    expect((await said(right)).out).not.toContain('\u001b');
  });

  it('refuses a vector set whose files do not match its manifest', async () => {
    const { exitCode, error } = await command(['run', right, '--vectors', folder]);
    expect({ exitCode, error }).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('cannot be read'),
    });
    const manifest = { conformance_version: '1', sha256: 'x', files: [{ path: '../secret', sha256: 'x' }] };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    expect((await command(['run', right, '--vectors', folder])).error).toContain(
      '../secret, which lies elsewhere',
    );
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ ...manifest, files: [{ path: 'a.json', sha256: 'x' }] }),
    );
    writeFileSync(join(folder, 'a.json'), '{}');
    expect((await command(['run', right, '--vectors', folder])).error).toContain('a.json is not the file');
  });

  it.each<readonly [string, (path: string, sha256: string) => unknown, string]>([
    ['a manifest that lists no paths', () => null, 'manifest.json is no manifest'],
    ['files that hold no vectors', (path, sha256) => ({ path, sha256 }), 'evaluate/a.json holds no vectors'],
  ])('exits with 2, not with 1, for %s', async (_, entryOf, problem) => {
    const [path, text] = ['evaluate/a.json', '{}'];
    const fileHash = sha256Of(portableCrypto, text);
    const sha256 = sha256Of(portableCrypto, `${fileHash.slice('sha256:'.length)}  ${path}\n`);
    const manifest = { conformance_version: '1', sha256, files: [entryOf(path, fileHash)] };
    const own = mkdtempSync(join(folder, 'own-'));
    mkdirSync(join(own, 'evaluate'));
    writeFileSync(join(own, path), text);
    writeFileSync(join(own, 'manifest.json'), JSON.stringify(manifest));
    const { exitCode, error } = await command(['run', right, '--vectors', own]);
    expect({ exitCode, error }).toEqual({ exitCode: 2, error: expect.stringContaining(problem) });
  });

  it('refuses a report file that cannot be written before it sends a request', async () => {
    const { exitCode, error, progress } = await command(['run', right, '--junit', folder]);
    expect({ exitCode, progress }).toEqual({ exitCode: 2, progress: [] });
    expect(error).toContain(`${folder} cannot be written`);
  });
});

describe('svc-conformance refuses with exit code 2', () => {
  it.each<readonly [string, readonly string[], string]>([
    ['no command', [], 'no command is named'],
    ['another command', ['test'], 'there is no command test'],
    ['no URL', ['run'], 'run must be followed by one URL'],
    ['two URLs', ['run', right, right], 'run must be followed by one URL'],
    ['a text that is no URL', ['run', 'example'], 'the URL must be absolute'],
    ['a URL that is too long', ['run', `https://e.example/${'x'.repeat(2048)}`], 'at most 2048'],
    ['a file', ['run', 'file:///etc/passwd'], 'the URL must be https'],
    ['plain http to other machines', ['run', 'http://e.example/'], 'http is for this machine'],
    [
      'a host that only looks like this machine',
      ['run', 'http://localhost.example/'],
      'http is for this machine',
    ],
    ['credentials', ['run', 'https://u:p@e.example/'], 'must not carry credentials'],
    ['an unknown option', ['run', right, '--retry'], 'there is no option --retry'],
    ['an option without its value', ['run', right, '--junit'], '--junit must be followed by a value'],
    ['a value where none belongs', ['run', right, '--json=1'], '--json takes no value'],
    ["another command's option", ['run', right, '--port', '1'], 'run has no option --port'],
    ['a time of 0', ['run', right, '--timeout', '0'], '--timeout must be seconds'],
    ['a time that is no number', ['run', right, '--deadline', 'soon'], 'not soon'],
    ['too long a time', ['run', right, '--deadline', '601'], 'at most 600'],
    ['an invalid port', ['serve', '--port', '65536'], '--port must be'],
    ['an argument of serve', ['serve', 'x'], 'serve takes no argument'],
    [
      'an address of another machine',
      ['serve', '--host', '192.0.2.1', '--port', '0'],
      'cannot be listened on',
    ],
    [
      'a report that cannot be written',
      ['run', right, '--junit', join(folder, 'no', 'x')],
      'cannot be written',
    ],
  ])('%s', async (_, args, problem) => {
    const { exitCode, out, error } = await command(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain(problem);
  });

  it('in JSON where --json is given', async () => {
    const { exitCode, out } = await command(['run', '--json']);
    expect(exitCode).toBe(2);
    expect(JSON.parse(out)).toEqual({ status: 'error', error: 'run must be followed by one URL' });
  });
});

const program = programFile('packages/cli', 'svc-conformance.js');

describe('svc-conformance as a process', () => {
  it('serves our engine until SIGTERM, and the engine passes the vectors', async () => {
    const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const url = String(line).replace('svc-conformance-http v1 at ', '');
    if (isDeep) {
      const done = spawnSync(process.execPath, [program, 'run', url, '--strict'], { encoding: 'utf8' });
      expect(done.stdout).toMatch(/^PASSED\n/);
      expect(done.stderr).toMatch(/^\d+ of \d+ requests, .*\n/);
      expect(done.status).toBe(0);
    } else {
      const { exitCode, out } = await command(['run', url, '--strict']);
      expect([exitCode, out]).toEqual([0, expect.stringMatching(/^PASSED\n/)]);
    }
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  });

  it('exits with 2, not with 1, where nobody reads its output', async () => {
    const unread = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'ignore'] });
    unread.stdout.destroy();
    expect(await once(unread, 'exit')).toEqual([2, null]);
  });

  it('prints its help and its version', async () => {
    const { exitCode, out } = await command(['--help']);
    expect(exitCode).toBe(0);
    expect(out).toContain('Exit code: 0 passed, 1 failed, 2 could not decide.');
    expect((await command(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
