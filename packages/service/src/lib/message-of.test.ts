import { expect, it } from 'vitest';
import { messageOf } from './message-of.ts';

it('messageOf joins the different messages of an AggregateError that has no message', () => {
  const refused = [new Error('refused ::1'), new Error('refused 127.0.0.1'), new Error('refused ::1')];
  expect(messageOf(new AggregateError(refused))).toBe('refused ::1; refused 127.0.0.1');
  expect(messageOf(new AggregateError(refused, 'all refused'))).toBe('all refused');
});

it('messageOf uses the code, else the name, of an error without a message', () => {
  expect(messageOf(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
  expect(messageOf(new AggregateError([]))).toBe('AggregateError');
  expect(messageOf(new TypeError(''))).toBe('TypeError');
});

it('messageOf shows a thrown value that is not an error only if it is a string', () => {
  expect(messageOf('no more')).toBe('no more');
  expect(messageOf({ secret: 'x' })).toBe('a thrown object');
});
