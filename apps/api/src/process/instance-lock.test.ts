import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockInstance } from './instance-lock.ts';

let folder: string;
let lockFile: string;
const children: ReturnType<typeof spawn>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
  lockFile = join(folder, 'instance.pid');
});
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  rmSync(folder, { recursive: true, force: true });
});

const program = withSourceProgram({
  text: `import { lockInstance } from './instance-lock.ts';
    const lock = lockInstance(process.argv[2]);
    console.log(lock.held ? 'held' : lock.ownerPid);
    process.stdin.on('end', () => process.exit(0)).resume();`,
  folder: import.meta.dirname,
});

/** A process that tries to take the lock, prints the result, and stays until its input ends. */
const contend = async (): Promise<{ pid: number; answer: string; child: ReturnType<typeof spawn> }> => {
  const child = spawn(process.execPath, [program(), folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  if (child.stdout === null) throw new Error('no output');
  const [answer] = await once(createInterface({ input: child.stdout }), 'line');
  return { pid: child.pid ?? 0, answer: String(answer), child };
};

describe('The lock of a data folder', () => {
  it('has one owner; other processes get its process id', async () => {
    const owner = await contend();
    expect(owner.answer).toBe('held');
    expect((await contend()).answer).toBe(String(owner.pid));
    expect(lockInstance(folder)).toEqual({ held: false, ownerPid: owner.pid });
  });

  it('goes to exactly one of several processes that start together', async () => {
    writeFileSync(lockFile, '1 of a life before\n');
    const answers = (await Promise.all(Array.from({ length: 4 }, contend))).map(({ answer }) => answer);
    expect(answers.filter((answer) => answer === 'held')).toHaveLength(1);
    expect(new Set(answers).size).toBe(2);
  });

  it('is free again after its owner has ended or was killed', async () => {
    const first = await contend();
    first.child.stdin?.end();
    await once(first.child, 'exit');
    expect(readdirSync(folder)).toEqual([]);
    const second = await contend();
    second.child.kill('SIGKILL');
    await once(second.child, 'exit');
    const lock = lockInstance(folder);
    expect(lock.held).toBe(true);
    if (lock.held) lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'is not held by a process that merely has the process id of an earlier owner',
    () => {
      for (const left of [`${process.pid} of a life before\n`, '1 of a life before\n', 'nonsense', '']) {
        writeFileSync(lockFile, left);
        const lock = lockInstance(folder);
        expect(lock.held).toBe(true);
        if (lock.held) lock.release();
      }
    },
  );

  it.runIf(process.platform === 'linux')(
    'is free after its owner was killed, even while that is a zombie',
    async () => {
      // `sleep` replaces the shell, and does not wait for child processes.
      const started = '"$0" "$1" "$2" <&3 & exec sleep 600';
      const parent = spawn('sh', ['-c', `exec 3<&0; ${started}`, process.execPath, program(), folder], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(parent);
      expect(await once(createInterface({ input: parent.stdout }), 'line')).toEqual(['held']);
      const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
      process.kill(pid, 'SIGKILL');
      await vi.waitUntil(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '), 10_000);
      const lock = lockInstance(folder);
      expect(lock.held).toBe(true);
      if (lock.held) lock.release();
    },
  );

  it('of another owner is not removed by a late release', () => {
    const lock = lockInstance(folder);
    writeFileSync(lockFile, 'of another\n');
    if (lock.held) lock.release();
    expect(readFileSync(lockFile, 'utf8')).toBe('of another\n');
  });
});
