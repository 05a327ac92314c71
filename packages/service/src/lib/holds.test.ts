import { describe, expect, it } from 'vitest';
import { ServiceError } from '../errors.ts';
import { Holds } from './holds.ts';

const withLog = () => {
  const logged: [string, unknown][] = [];
  const note = (event: string, fields: unknown) => void logged.push([event, fields]);
  return { logged, holds: new Holds({ info: note, warn: note, error: note }) };
};

describe('holds', () => {
  it('allow everything while there are none', () => {
    const { holds } = withLog();
    expect(holds.list()).toEqual([]);
    expect(() => holds.assertNone()).not.toThrow();
  });

  it('refuse with SERVICE_UNAVAILABLE until all are released, with the reasons in the detail but not in the message', () => {
    const { holds } = withLog();
    holds.set('clock', 'it jumped');
    holds.set('fence', 'it is old');
    const refusal = catchError(() => holds.assertNone());
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      detail: 'held: clock: it jumped; fence: it is old',
    });
    expect(refusal.message).not.toContain('jumped');
    holds.set('clock', null);
    expect(() => holds.assertNone()).toThrow();
    holds.set('fence', null);
    expect(() => holds.assertNone()).not.toThrow();
  });

  it('that are watched are evaluated at each check, and with isOfAll refuse more than decisions', () => {
    const { holds } = withLog();
    let hold: { reason: string; isOfAll: boolean } | null = null;
    holds.watch('fence', () => hold);
    expect(() => holds.assertNone()).not.toThrow();
    hold = { reason: 'late', isOfAll: false };
    expect(holds.list()).toEqual([{ name: 'fence', reason: 'late', isOfAll: false }]);
    expect(() => holds.assertNone()).toThrow();
    expect(() => holds.assertSure()).not.toThrow();
    hold = { reason: 'behind', isOfAll: true };
    expect(() => holds.assertSure()).toThrow(ServiceError);
  });

  it('log their beginning and their end once each', () => {
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
