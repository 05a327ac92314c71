/** Real processes under a real supervisor, which looks at them every 20 ms; thirty looks without an answer, and one is stuck. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** The time of many more looks than a process may leave unanswered. */
const FROZEN_MS = 1_500;

const program = withSourceProgram(fileURLToPath(new URL('../../test/world/small-fleet.ts', import.meta.url)));
let supervisor: ReturnType<typeof spawn>;
let log: Record<string, unknown>[];
const logged = (event: string) => log.filter(({ msg }) => msg === event);
const processIds = () => logged('process.listening').map(({ processId }) => Number(processId));
const until = (condition: () => unknown) =>
  expect.poll(condition, { timeout: 20_000, interval: 10 }).toBeTruthy();

beforeEach(async () => {
  log = [];
  supervisor = spawn(process.execPath, [program()], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (supervisor.stdout !== null)
    createInterface({ input: supervisor.stdout }).on('line', (line) => log.push(JSON.parse(line)));
  await until(() => logged('listening').length === 1 && processIds().length === 2);
});
afterEach(() => {
  for (const pid of [supervisor.pid ?? 0, ...processIds()])
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has ended.
      expect((error as NodeJS.ErrnoException).code).toBe('ESRCH');
    }
});

it('a process that hangs is killed and replaced, the other one is left alone; a supervisor that was frozen itself kills none', async () => {
  const [hanging = 0, other] = processIds();
  supervisor.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
  supervisor.kill('SIGCONT');
  process.kill(hanging, 'SIGSTOP');
  await until(() => logged('process.replaced').length === 1);
  expect(logged('process.stuck')).toMatchObject([{ processId: hanging }]);
  expect(logged('process.lost')).toMatchObject([{ processId: hanging, signal: 'SIGKILL' }]);
  const [, , replacement] = processIds();
  expect(logged('process.replaced')).toMatchObject([{ processId: replacement }]);
  expect(processIds()).toEqual([hanging, other, replacement]);
});
