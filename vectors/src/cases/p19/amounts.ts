/** P19: the ceiling of one Action (protocol §7). */

import { purchase } from '../../edits/authority-edits.ts';
import { purchaseCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const MAX = Number.MAX_SAFE_INTEGER;

const NOT_19: Covers = { P18: true, P19: false, P20: 'skipped' };

const ceiling = (maxAmount: number, amount: number) =>
  purchase([purchaseCapability({ maxAmount })], { amount });

export const cases: readonly VectorCase[] = [
  allow('p19-amount-is-ceiling', 'maxAmount itself is included', { P19: true }, ceiling(50000, 50000)),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'p19-one-over-ceiling',
    'one minor unit more',
    NOT_19,
    ceiling(50000, 50001),
  ),
  allow('p19-zero', 'nothing for nothing', { P19: true }, ceiling(0, 0)),
  deny('AMOUNT_EXCEEDS_AUTHORITY', 'p19-one-over-zero', 'a ceiling of 0 is a ceiling', NOT_19, ceiling(0, 1)),
  allow('p19-largest', '2^53-1 within 2^53-1', { P19: true }, ceiling(MAX, MAX)),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'p19-largest-over',
    '2^53-1 is more than 2^53-2',
    NOT_19,
    ceiling(MAX - 1, MAX),
  ),
  allow('p19-negative-zero', 'a ceiling written -0 is 0', { P19: true }, (s) => {
    ceiling(0, 0)(s);
    s.grant.editPayload = (json) => json.replace('"maxAmount":0', '"maxAmount":-0');
  }),
];
