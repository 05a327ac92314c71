import { describe, expect, it } from 'vitest';
import { ServiceError } from '../errors.ts';
import { Holds } from './holds.ts';

const withLog = () => {
  const logged: [string, unknown][] = [];
  const note = (event: string, fields: unknown) => void logged.push([event, fields]);
  return { logged, holds: new Holds({ warn: note, error: note }) };
};

describe('holds', () => {
  it('let everything pass while there are none', () => {
    const { holds } = withLog();
    expect(holds.list()).toEqual([]);
    expect(() => holds.assertNone()).not.toThrow();
  });

  it('refuse until each of them has let go, and tell the reasons to the log alone', () => {
    const { holds } = withLog();
    holds.set('clock', 'it jumped');
    holds.set('restore', 'it is old');
    const refusal = catchError(() => holds.assertNone());
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      detail: 'held: clock: it jumped; restore: it is old',
    });
    expect(refusal.message).not.toContain('jumped');
    holds.set('clock', null);
    expect(() => holds.assertNone()).toThrow();
    holds.set('restore', null);
    expect(() => holds.assertNone()).not.toThrow();
  });

  it('log their beginning and their end, once each', () => {
    const { holds, logged } = withLog();
    holds.set('clock', null);
    holds.set('clock', 'by 3 s');
    holds.set('clock', 'by 4 s');
    holds.set('clock', null);
    expect(logged).toEqual([
      ['hold.begun', { hold: 'clock', reason: 'by 3 s' }],
      ['hold.ended', { hold: 'clock', reason: 'by 4 s' }],
    ]);
  });
});

const catchError = (work: () => void): Error => {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
};
