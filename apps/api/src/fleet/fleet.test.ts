/**
 * Real processes under a real supervisor, which checks them every 20 ms; a process is stuck after thirty checks without
 * an answer.
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { isDeep } from '@svc/testkit/sampled';
import { until } from '@svc/testkit/until';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

/** Long enough for many more checks than a process may leave unanswered. */
const FROZEN_MS = 1_500;

const program = withSourceProgram(fileURLToPath(new URL('../../test/world/small-fleet.ts', import.meta.url)));
let supervisor: ReturnType<typeof spawn>;
/**
 * Output of the supervisor and of its processes. Each process writes to its own stream, so their lines have no common
 * order.
 */
interface Output {
  readonly lines: Record<string, unknown>[];
  hasEnded: boolean;
}
let output: Output;
const logged = (event: string) => output.lines.filter(({ msg }) => msg === event);
const processIds = () => logged('process.listening').map(({ processId }) => Number(processId));
/** Process ids of those that listen or have listened, by the order in which they began to. */
const processId = (index: number): number => {
  const id = processIds()[index];
  // A signal to 0 would go to this process and its whole group.
  if (id === undefined || !(id > 0)) throw new Error(`no process ${index} has listened`);
  return id;
};
const folder = mkdtempSync(join(tmpdir(), 'svc-fleet-'));
const refusal = join(folder, 'refused');
const standstill = join(folder, 'standstill');
const unready = join(folder, 'unready');
const busy = join(folder, 'busy');
afterAll(() => rmSync(folder, { recursive: true }));

const launch = (): void => {
  const written: Output = { lines: [], hasEnded: false };
  output = written;
  supervisor = spawn(process.execPath, [program(), refusal, standstill, unready, busy], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (supervisor.stdout !== null)
    createInterface({ input: supervisor.stdout })
      .on('line', (line) => written.lines.push(JSON.parse(line)))
      .once('close', () => {
        written.hasEnded = true;
      });
};
/** Resolves when the supervisor has ended, or when it listens with both of its processes. */
const start = async (): Promise<void> => {
  launch();
  await until(() => output.hasEnded || (logged('listening').length === 1 && processIds().length === 2));
};
afterEach(() => {
  for (const file of [refusal, standstill, unready, busy]) rmSync(file, { force: true });
  for (const pid of [supervisor.pid, ...processIds()].filter((one) => one !== undefined))
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // The process has ended.
      expect((error as NodeJS.ErrnoException).code).toBe('ESRCH');
    }
});

it('A stuck process is killed and replaced, the other one is not; a supervisor that was itself frozen kills none', async () => {
  await start();
  const [hanging, other] = [processId(0), processId(1)];
  supervisor.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
  supervisor.kill('SIGCONT');
  process.kill(hanging, 'SIGSTOP');
  await until(() => logged('process.replaced').length === 1 && processIds().length === 3);
  expect(logged('process.stuck')).toMatchObject([{ processId: hanging }]);
  expect(logged('process.lost')).toMatchObject([{ processId: hanging, signal: 'SIGKILL' }]);
  const [, , replacement] = processIds();
  expect(logged('process.replaced')).toMatchObject([{ processId: replacement }]);
  expect(processIds()).toEqual([hanging, other, replacement]);
});

it.runIf(isDeep)('A process that dies while the others are started is replaced', async () => {
  launch();
  await until(() => processIds().length === 1);
  process.kill(processId(0), 'SIGKILL');
  await until(() => logged('process.replaced').length === 1 && processIds().length === 3);
});

it.runIf(isDeep)('A process that dies while all are replaced in turn is replaced once', async () => {
  await start();
  const [first, second] = [processId(0), processId(1)];
  supervisor.kill('SIGHUP');
  process.kill(second, 'SIGKILL');
  await until(() => logged('restarted').length === 1 && processIds().length === 4);
  expect(logged('process.handed_over')).toMatchObject([{ processId: first }]);
});

it('A process is replaced only once its successor is ready, and gets time to finish; one that SIGTERM stops does not', async () => {
  await start();
  const [first, second] = [processId(0), processId(1)];
  writeFileSync(unready, '');
  supervisor.kill('SIGHUP');
  await until(() => logged('process.unready').length >= 3);
  expect([logged('process.handed_over'), logged('process.ending')]).toEqual([[], []]);
  rmSync(unready);
  await until(() => logged('restarted').length === 1 && logged('process.ending').length === 2);
  expect(logged('process.handed_over')).toHaveLength(2);
  expect(logged('process.ending')).toMatchObject([
    { processId: first, isHandedOver: true },
    { processId: second, isHandedOver: true },
  ]);
  supervisor.kill('SIGTERM');
  await until(() => output.hasEnded && logged('process.ending').length === 4);
  expect(logged('process.ending').slice(2)).toMatchObject([{ isHandedOver: false }, { isHandedOver: false }]);
});

it('A replaced process that is still finishing is told to hurry when the supervisor is stopped', async () => {
  await start();
  const first = processId(0);
  writeFileSync(busy, '');
  supervisor.kill('SIGHUP');
  await until(() => logged('process.ending').length === 1);
  supervisor.kill('SIGTERM');
  await until(() => output.hasEnded);
  expect(logged('process.hurried')).toMatchObject([{ processId: first }]);
});

it('A metric value that is not finite (+Inf) is unchanged in the metrics of the fleet', async () => {
  await start();
  supervisor.kill('SIGUSR2');
  await until(() => logged('metrics').length === 1);
  expect(String(logged('metrics')[0]?.text).split('\n')).toContain('svc_replica_behind_seconds +Inf');
});

it.runIf(isDeep)(
  'A process that is stuck while starting is killed: the running ones continue, and the next SIGHUP replaces them',
  async () => {
    await start();
    writeFileSync(standstill, '');
    supervisor.kill('SIGHUP');
    await until(() => logged('process.starting').length === 3);
    await until(() => logged('restarted').length === 1);
    const stuck = Number(logged('process.starting')[2]?.processId);
    expect(logged('process.stuck')).toMatchObject([{ processId: stuck }]);
    expect(logged('process.not_replaced')).toHaveLength(1);
    expect(processIds()).toHaveLength(2);
    rmSync(standstill);
    supervisor.kill('SIGHUP');
    await until(() => logged('restarted').length === 2 && processIds().length === 4);
  },
);

describe('If a token does not accept its PIN', () => {
  it('only one process tries it at the start, and the supervisor exits with 78 without starting another', async () => {
    writeFileSync(refusal, '');
    await start();
    await until(() => supervisor.exitCode !== null);
    expect(supervisor.exitCode).toBe(78);
    expect(logged('process.starting')).toHaveLength(1);
  });

  it.runIf(isDeep)(
    'a lost process is not replaced after one refusal, until a SIGHUP after the fault was corrected',
    async () => {
      await start();
      const [first, second] = [processId(0), processId(1)];
      writeFileSync(refusal, '');
      process.kill(first, 'SIGKILL');
      await until(() => logged('process.must_not_restart').length === 1);
      process.kill(second, 'SIGKILL');
      await until(() => logged('process.lost').length === 3 && logged('process.starting').length >= 3);
      expect(logged('process.starting')).toHaveLength(3);
      rmSync(refusal);
      supervisor.kill('SIGHUP');
      await until(() => logged('process.replaced').length === 2 && logged('process.starting').length >= 5);
      expect(logged('process.starting')).toHaveLength(5);
    },
  );
});
