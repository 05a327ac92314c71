import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gatherLines } from './log-destination.ts';

const full = (code: string) => Object.assign(new Error(code), { code });

/** A pipe that answers at once, like that of a process; only `read` reads it. */
const openPipe = () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const read = (): string => {
    const buffer = Buffer.alloc(1_048_576);
    try {
      return buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN');
      return '';
    }
  };
  return { fd, read };
};

it('a line is in the output as soon as it is flushed, with the lines before it', () => {
  const { fd, read } = openPipe();
  const log = gatherLines(fd);
  log.write('request\n');
  expect(read()).toBe('');
  log.write('revocation\n');
  log.flush();
  expect(read()).toBe('request\nrevocation\n');
  expect(log.lostLines()).toBe(0);
});

it('lines lost to a full disk are counted', () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const log = gatherLines(fd);
  log.write('one\n');
  log.write('two\n');
  log.flush();
  expect(log.lostLines()).toBe(2);
  log.write('three\n');
  log.flushSync();
  expect(log.lostLines()).toBe(3);
});

it('lines for which a stopped reader leaves no room are counted, and the others come once it reads on', () => {
  const { fd, read } = openPipe();
  const log = gatherLines(fd);
  const line = `${'x'.repeat(1_048_575)}\n`;
  for (let i = 0; i < 16; i++) {
    log.write(line);
    log.flush();
  }
  expect(log.lostLines()).toBe(0);
  for (let i = 0; i < 3; i++) {
    log.write(line);
    log.flush();
  }
  expect(log.lostLines()).toBeGreaterThan(0);
  const lost = log.lostLines();
  let lines = 0;
  for (let text = read(); text !== ''; text = read()) {
    lines += text.split('\n').length - 1;
    log.flush();
  }
  expect([lines, log.lostLines()]).toEqual([19 - lost, lost]);
});

it('a line that a full disk cut off damages no other line', () => {
  let written = '';
  let room = 0;
  const log = gatherLines(1, (_, bytes) => {
    if (room === 0) throw full('ENOSPC');
    const some = bytes.subarray(0, room);
    written += some.toString();
    room -= some.length;
    return some.length;
  });
  room = 7;
  log.write('one\ntwo\nthree\n');
  log.flush();
  expect([written, log.lostLines()]).toEqual(['one\ntwo', 2]);
  room = 100;
  log.write('four\n');
  log.flush();
  expect([written.split('\n'), log.lostLines()]).toEqual([['one', 'two', 'four', ''], 2]);
});
