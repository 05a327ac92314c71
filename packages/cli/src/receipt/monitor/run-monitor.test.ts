import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMultikey } from '@svc/protocol';
import { programFile } from '@svc/testkit/process/program-file';
import { PublishedDays, recordOf } from '@svc/testkit/receipts/published-days';
import { publicKeyOf, SERVICE, serviceDocument } from '@svc/testkit/receipts/world';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../run.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-monitor-'));
const didFile = join(folder, 'did.json');
writeFileSync(didFile, JSON.stringify(serviceDocument));

let service: PublishedDays;
let server: Server;
let origin: string;
let headers: Record<string, string> = {};
/** Answers before all others, each used once. */
const before: { status: number; headers?: Record<string, string> }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const first = before.shift();
    if (first !== undefined) {
      response.writeHead(first.status, first.headers).end();
      return;
    }
    const { status, body } = service.serve(path);
    response.writeHead(status, headers);
    if (typeof body === 'string') response.end(body);
    else {
      for await (const piece of body()) response.write(piece);
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

let state: string;
let states = 0;
beforeEach(async () => {
  state = join(folder, `state-${states++}.json`);
  headers = {};
  service = new PublishedDays();
  for (const size of [2, 0, 500]) await service.close(size);
});

const monitor = (...args: string[]) =>
  run(['monitor', origin, '--did-document', didFile, '--state', state, ...args]);

/** Puts the state into its own folder, which `takeAway` removes when the service is asked for its latest day. */
const stateInFolder = () => {
  const home = `${state}.d`;
  mkdirSync(home);
  state = join(home, 'state.json');
  const takeAway = () => {
    const serve = service.serve.bind(service);
    return vi.spyOn(service, 'serve').mockImplementation((path) => {
      if (path === '/checkpoints/latest') rmSync(home, { recursive: true, force: true });
      return serve(path);
    });
  };
  return { home, takeAway };
};

describe('svc-receipt monitor', () => {
  it('exits with 0, and with 1 once a day has vanished, naming what it saw and what is served now', async () => {
    const well = await monitor();
    expect(well).toMatchObject({ exitCode: 0, stderr: '' });
    expect(well.stdout).toMatch(/^WELL\n {2}days {11}2026-11-10 to 2026-11-12: 3, 3 of them new\n/);
    const written = readFileSync(state, 'utf8');
    expect(JSON.parse(written).days).toHaveLength(3);

    const [first] = service.days;
    service.days.shift();
    const gone = await monitor();
    expect(gone.exitCode).toBe(1);
    expect(gone.stdout).toContain('  - vanished-day 2026-11-10: a published day is not served any more\n');
    expect(gone.stdout).toContain(`      before: ${first?.checkpoint.root}\n      now:    nothing`);
    expect(readFileSync(state, 'utf8')).toBe(written);
    const json = JSON.parse((await monitor('--json')).stdout);
    expect(json).toMatchObject({
      verdict: 'alarm',
      alarms: [{ code: 'vanished-day', checkpoints: [first?.jws] }],
    });
  });

  it('accepts pinned keys, and fetches again as many days as --recheck says', async () => {
    const keys = ['--key', `status=${encodeMultikey(publicKeyOf(2))}`, '--service-did', SERVICE];
    const look = (...args: string[]) =>
      run(['monitor', origin, ...keys, '--state', state, '--json', ...args]);
    expect((await look('--since', '2026-11-11')).exitCode).toBe(0);
    const again = JSON.parse((await look('--recheck', '1')).stdout);
    expect(again).toMatchObject({ verdict: 'well', days: { count: 2, new: 0, fetched_again: 1 } });
  });

  it('exits with 2 where a key is pinned without its purpose, or no status key is pinned', async () => {
    const look = (...keys: string[]) => run(['monitor', origin, ...keys, '--state', state]);
    const key = encodeMultikey(publicKeyOf(2));
    const { exitCode, stdout } = await look('--key', key);
    expect([exitCode, stdout.split('\n')[0]]).toEqual([2, 'COULD NOT TELL']);
    expect(stdout).toContain(`? /checkpoints: ${key} is pinned without its purpose`);
    expect(await look('--key', `receipt=${key}`)).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining('no status key is pinned') },
    });
  });

  it.each([
    [
      'a redirect',
      { status: 302, headers: { location: '/checkpoints/2026-11-12' } },
      'with a redirect (302)',
    ],
    ['an error', { status: 500 }, 'it answered 500'],
  ])('exits with 2 on %s', async (_, answer, problem) => {
    before.push(answer);
    const { exitCode, stdout } = await monitor();
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^COULD NOT TELL\n/);
    expect(stdout).toContain(problem);
  });

  it('exits with 2 on a refused or broken connection, and on an answer that is too long', async () => {
    const refused = await run(['monitor', 'http://127.0.0.1:1', '--did-document', didFile, '--state', state]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('it did not answer') });
    expect(refused.stdout).toMatch(/^COULD NOT TELL\n {2}days {11}unknown\n/);
    expect(refused.stdout).not.toContain('no day is closed');
    async function* cut() {
      yield Buffer.from('a'.repeat(64));
    }
    service.answer('/checkpoints/2026-11-12/leaves', { status: 200, body: cut });
    expect((await monitor()).exitCode).toBe(2);
    service.answer('/checkpoints/latest', { status: 200, body: 'x'.repeat(70_000) });
    const { exitCode, stdout } = await monitor();
    expect([exitCode, stdout.includes('more than 65536 bytes')]).toEqual([2, true]);
  });

  it('stores every checkpoint before it asks for the leaves of a day', async () => {
    const written: number[] = [];
    async function* body() {
      written.push(JSON.parse(readFileSync(state, 'utf8')).days.length);
      yield Buffer.from('a'.repeat(64));
    }
    for (const { checkpoint } of service.days)
      service.answer(`/checkpoints/${checkpoint.day}/leaves`, { status: 200, body });
    await monitor();
    expect(written).toEqual([3, 3, 3]);
  });

  it('waits once for a rate limit', async () => {
    before.push({ status: 429, headers: { 'retry-after': '0' } });
    expect((await monitor()).exitCode).toBe(0);
    before.push(
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 429, headers: { 'retry-after': '0' } },
    );
    expect(await monitor()).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('it answered 429'),
    });
  });

  it('does not overwrite a state that it cannot read, and leaves no temporary file', async () => {
    writeFileSync(state, '{"format":"svc-receipt-mon');
    const { exitCode, stderr } = await monitor();
    expect([exitCode, stderr.includes('cannot be used: it is not JSON')]).toEqual([2, true]);
    expect(readFileSync(state, 'utf8')).toBe('{"format":"svc-receipt-mon');
    state = join(folder, 'no-such-folder', 'state.json');
    expect(await monitor()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('writes its state before it asks, so a state that cannot be written is reported before any day is closed', async () => {
    service = new PublishedDays();
    const look = await monitor();
    expect(look.stdout).toMatch(/\n {2}days {11}none is closed yet\n/);
    expect(look.stdout).toContain(`state          ${state}\n`);
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ days: [] });
    expect((await monitor()).stdout).toBe(look.stdout);
    state = join(folder, 'no-such-folder', 'state.json');
    expect(await monitor()).toMatchObject({
      ...{ exitCode: 2, stdout: '', stderr: expect.stringContaining('cannot be written') },
    });
  });

  it('reports the alarm that it found although it cannot write its state afterwards', async () => {
    const { takeAway } = stateInFolder();
    expect((await monitor()).exitCode).toBe(0);
    service.days.shift();
    await service.close(1);
    takeAway();
    const { exitCode, stdout, stderr } = await monitor();
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toContain('  - vanished-day 2026-11-10: ');
    expect(stdout).toContain(`  ? /checkpoints: the state ${state} cannot be written: ENOENT`);
    expect(service.asked.filter((path) => path.startsWith('/checkpoints/2026-11-13'))).toEqual([
      '/checkpoints/2026-11-13',
    ]);
  });

  it('escapes control characters that a service sends', async () => {
    const body = recordOf(service.days[0]?.jws ?? '').replace('"day":"2026', '"day":"\\u001b[2J2026');
    service.answer('/checkpoints/latest', { status: 200, body });
    const { exitCode, stdout } = await monitor();
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/(?!\n)\p{C}/u);
  });
});

describe('svc-receipt monitor as a process', () => {
  const start = (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [
        programFile('packages/cli', 'svc-receipt.js'),
        ...['monitor', origin, '--did-document', didFile, ...args],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const lines: string[] = [];
    let heard = () => {};
    child.stdout.on('data', (chunk: Buffer) => {
      lines.push(...chunk.toString().trim().split('\n'));
      heard();
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const line = async (count: number) => {
      while (lines.length < count)
        await Promise.race([
          ended,
          new Promise<void>((resolve) => {
            heard = resolve;
          }),
        ]);
      return JSON.parse(lines[count - 1] ?? '{}');
    };
    return { child, line, ended };
  };

  it('goes on while it cannot write its state, writes it later, and ends with the first alarm', async () => {
    const { home, takeAway } = stateInFolder();
    const taken = takeAway();
    const { line, ended } = start('--state', state, '--json', '--every', '1');
    expect(await line(1)).toMatchObject({ verdict: 'undecided', days: { new: 3 } });
    taken.mockRestore();
    mkdirSync(home);
    expect(await line(2)).toMatchObject({ verdict: 'well', days: { new: 0 } });
    expect(JSON.parse(readFileSync(state, 'utf8')).days).toHaveLength(3);
    service.answer('/checkpoints/2026-11-11', { status: 404, body: '' });
    expect(await ended).toBe(1);
  });

  it('ends on SIGTERM with the verdict of its last look', async () => {
    const { child, line, ended } = start('--state', state, '--json', '--every', '3600');
    expect(await line(1)).toMatchObject({ verdict: 'well', days: { new: 3 } });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(JSON.parse(readFileSync(state, 'utf8')).days).toHaveLength(3);
  });
});

describe('svc-receipt monitor refuses with exit code 2', () => {
  it.each([
    ['no service', ['--did-document', didFile], 'one base URL'],
    ['two services', ['https://a.example', 'https://b.example', '--did-document', didFile], 'one base URL'],
    ['no pin', ['https://a.example'], 'either --did-document or --key'],
    [
      'two pins',
      ['https://a.example', '--did-document', didFile, '--key', 'z'],
      'either --did-document or --key',
    ],
    ['a malformed key', ['https://a.example', '--key', 'z6Mk'], 'is not an Ed25519 Multikey'],
    [
      'a document of another service',
      ['https://a.example', '--did-document', didFile, '--service-did', 'did:web:b'],
      'not of did:web:b',
    ],
    ['an address with a path', ['https://a.example/x', '--did-document', didFile], 'must be https://host'],
    [
      'an address with a password',
      ['https://u:p@a.example', '--did-document', didFile],
      'must be https://host',
    ],
    ['another scheme', ['file:///etc', '--did-document', didFile], 'must be https://host'],
    ['plain http to another machine', ['http://a.example', '--did-document', didFile], 'must be https'],
    [
      'a day that does not exist',
      ['https://a.example', '--did-document', didFile, '--since', '2026-02-30'],
      '--since must be a day',
    ],
    [
      'an interval of 0',
      ['https://a.example', '--did-document', didFile, '--every', '0'],
      '--every must be a number, 1 to',
    ],
    [
      "another command's option",
      ['https://a.example', '--did-document', didFile, '--grant', 'x'],
      'monitor has no option --grant',
    ],
  ])('%s', async (_, args, problem) => {
    const { exitCode, stderr } = await run(['monitor', ...args]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
