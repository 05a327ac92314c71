import { spawnSync } from 'node:child_process';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { expect, it } from 'vitest';

const CRASHES = [
  'throw error;',
  'setTimeout(() => { throw error; }, 1);',
  'Promise.reject(error); setTimeout(() => {}, 60_000);',
];
const program = withSourceProgram({
  text: `import { createLogger } from './logger.ts';
    import { endOnCrash } from './end-on-crash.ts';
    endOnCrash(createLogger('info'));
    const error = Object.assign(new Error('broken'), { client: { secretKey: 'hunter2' } });
    ${CRASHES.map((statement, i) => `if (process.argv[2] === '${i}') { ${statement} }`).join('\n')}`,
  folder: import.meta.dirname,
});

it.each(CRASHES)(
  '%s ends the process with exit code 1 and a log line without the other fields of the error',
  (statement) => {
    const parameters = [program(), String(CRASHES.indexOf(statement))];
    const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toMatchObject({ level: 60, msg: 'crashed', err: { message: 'broken' } });
    expect(stdout).not.toContain('hunter2');
  },
);
