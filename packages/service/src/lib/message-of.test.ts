import { expect, it } from 'vitest';
import { messageOf } from './message-of.ts';

it('a host with several addresses says what each of them said, once', () => {
  const refused = [new Error('refused ::1'), new Error('refused 127.0.0.1'), new Error('refused ::1')];
  expect(messageOf(new AggregateError(refused))).toBe('refused ::1; refused 127.0.0.1');
  expect(messageOf(new AggregateError(refused, 'all refused'))).toBe('all refused');
});

it('an error without a message is told by its code, else by its name', () => {
  expect(messageOf(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
  expect(messageOf(new AggregateError([]))).toBe('AggregateError');
  expect(messageOf(new TypeError(''))).toBe('TypeError');
});

it('of what is no error only a string is shown', () => {
  expect(messageOf('no more')).toBe('no more');
  expect(messageOf({ secret: 'x' })).toBe('a thrown object');
});
