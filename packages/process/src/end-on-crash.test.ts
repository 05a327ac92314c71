import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const crash = (statement: string) =>
  spawnSync(
    process.execPath,
    [
      '--import',
      import.meta.resolve('tsx'),
      '--input-type=module',
      '-e',
      `import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'logger.ts'))};
       import { endOnCrash } from ${JSON.stringify(join(import.meta.dirname, 'end-on-crash.ts'))};
       endOnCrash(createLogger('info'));
       const error = Object.assign(new Error('broken'), { client: { secretKey: 'hunter2' } });
       ${statement}`,
    ],
    { encoding: 'utf8' },
  );

it.each([
  'throw error;',
  'setTimeout(() => { throw error; }, 1);',
  'Promise.reject(error); setTimeout(() => {}, 60_000);',
])('%s ends the process with a line in the log that holds no more than it may', (statement) => {
  const { status, stdout, stderr } = crash(statement);
  expect([status, stderr]).toEqual([1, '']);
  expect(JSON.parse(stdout)).toMatchObject({ level: 60, msg: 'crashed', err: { message: 'broken' } });
  expect(stdout).not.toContain('hunter2');
});
