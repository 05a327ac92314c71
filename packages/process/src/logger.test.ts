import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';

const linesOf = (write: (logger: ReturnType<typeof createLogger>) => void): string[] => {
  const lines: string[] = [];
  write(createLogger('info', { write: (line: string) => void lines.push(line) }));
  return lines;
};

/** An error as the driver reports it for a broken idle connection: it contains the whole client. */
const storageError = (): Error =>
  Object.assign(new Error('terminating connection'), {
    code: '57P01',
    query: 'select key_hash from api_keys',
    client: { user: 'svc', secretKey: 1_234_567, connectionString: 'postgres://svc:hunter2@127.0.0.1/svc' },
  });

describe('an error in the log', () => {
  it('has only its name, message, code and stack, and those of its cause', () => {
    const error = new Error('no answer', { cause: storageError() });
    const [line = ''] = linesOf((logger) => logger.warn({ err: error }, 'storage'));
    const { err } = JSON.parse(line);
    expect(Object.keys(err)).toEqual(['name', 'message', 'stack', 'cause']);
    expect(err.cause).toEqual({
      name: 'Error',
      message: 'terminating connection',
      code: '57P01',
      stack: expect.stringContaining('logger.test'),
    });
    expect(line).not.toMatch(/hunter2|key_hash|secretKey/);
  });

  it('has the same fields if it is logged directly, or by a child logger without redaction', () => {
    const lines = linesOf((logger) => {
      logger.error(storageError());
      logger.child({}, { redact: [] }).error({ err: storageError() });
    });
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(Object.keys(JSON.parse(line).err)).toEqual(['name', 'message', 'code', 'stack']);
      expect(line).not.toContain('hunter2');
    }
  });

  it('has the messages of an AggregateError, and ends at a cycle of causes', () => {
    const refused = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
    const circle = new Error('round');
    circle.cause = circle;
    const lines = linesOf((logger) => {
      logger.warn({ err: refused });
      logger.warn({ err: circle });
    });
    expect(JSON.parse(lines[0] ?? '').err.message).toBe('refused ::1; refused 127.0.0.1');
    expect(lines[1]?.match(/"round"/g)?.length).toBeLessThan(10);
  });
});
