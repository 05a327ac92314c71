/** P4 and P5: the first and the last millisecond of a Grant (protocol §2). */
import { allow, deny, type VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [
  allow('p04-valid-from-is-now', 'validFrom itself is included', { P4: true }, (s) => {
    s.grant.payload.validFrom = '2026-11-20T10:00:00Z';
  }),
  deny(
    'GRANT_NOT_YET_VALID',
    'p04-one-millisecond-early',
    'now is one millisecond before validFrom',
    { P4: false, P5: true },
    (s) => {
      s.now = '2026-11-20T10:00:00.999Z';
      s.grant.payload.validFrom = '2026-11-20T10:00:01Z';
    },
  ),
  allow('p05-one-millisecond-left', 'now is one millisecond before validUntil', { P5: true }, (s) => {
    s.now = '2026-11-20T10:00:00.999Z';
    s.grant.payload.validUntil = '2026-11-20T10:00:01Z';
  }),
  deny(
    'GRANT_EXPIRED',
    'p05-valid-until-is-now',
    'validUntil itself is excluded',
    { P4: true, P5: false },
    (s) => {
      s.grant.payload.validUntil = '2026-11-20T10:00:00Z';
    },
  ),
];
