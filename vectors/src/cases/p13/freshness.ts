/** P13: both ends of the proof window (protocol §7). */
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const NOON = Date.parse('2026-11-20T10:00:00Z') / 1000;

const fresh = (id: string, description: string, now: string, iat: number, window = 60): VectorCase =>
  allow(`p13-${id}`, description, { P13: true }, (s) => {
    s.now = now;
    s.rp.proof_window_seconds = window;
    s.proof.payload.iat = iat;
  });

const expired = (id: string, description: string, now: string, iat: number, window = 60): VectorCase =>
  deny('PROOF_EXPIRED', `p13-${id}`, description, { P13: false, P14: true }, (s) => {
    s.now = now;
    s.rp.proof_window_seconds = window;
    s.proof.payload.iat = iat;
  });

export const cases: readonly VectorCase[] = [
  fresh('oldest', 'iat exactly one window ago is included', '2026-11-20T10:00:00.000Z', NOON - 60),
  expired('one-second-too-old', 'one second more than the window', '2026-11-20T10:00:00.000Z', NOON - 61),
  expired(
    'one-millisecond-too-old',
    'one millisecond more than the window',
    '2026-11-20T10:00:00.001Z',
    NOON - 60,
  ),
  fresh('newest', 'iat exactly 5 seconds ahead is included', '2026-11-20T10:00:00.000Z', NOON + 5),
  expired('one-second-too-new', 'one second more than the skew', '2026-11-20T10:00:00.000Z', NOON + 6),
  expired(
    'one-millisecond-too-new',
    'one millisecond more than the skew',
    '2026-11-20T09:59:59.999Z',
    NOON + 5,
  ),
  fresh('window-1', 'the smallest window', '2026-11-20T10:00:00.000Z', NOON - 1, 1),
  expired(
    'window-1-too-old',
    'the smallest window, one second more',
    '2026-11-20T10:00:00.000Z',
    NOON - 2,
    1,
  ),
  fresh('window-300', 'the largest window', '2026-11-20T10:00:00.000Z', NOON - 300, 300),
  expired('iat-zero', 'the beginning of the epoch', '2026-11-20T10:00:00.000Z', 0),
  expired('iat-negative', 'before the epoch', '2026-11-20T10:00:00.000Z', -NOON),
  expired(
    'iat-in-milliseconds',
    'milliseconds in the place of seconds',
    '2026-11-20T10:00:00.000Z',
    NOON * 1000,
  ),
  expired('iat-largest', 'the largest integer there is', '2026-11-20T10:00:00.000Z', Number.MAX_SAFE_INTEGER),
];
