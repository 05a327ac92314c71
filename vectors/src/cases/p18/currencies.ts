/** P18: the currency (protocol §7). */

import { purchase } from '../../edits/authority-edits.ts';
import { purchaseCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const MAX = Number.MAX_SAFE_INTEGER;

const NOT_18: Covers = { P17: true, P18: false, P19: 'skipped', P20: 'skipped' };

export const cases: readonly VectorCase[] = [
  deny(
    'CURRENCY_NOT_AUTHORIZED',
    'p18-another-currency',
    'an amount is compared in one currency only',
    NOT_18,
    purchase([purchaseCapability({ currency: 'JPY' })]),
  ),
  allow(
    'p18-second-currency',
    'the second Capability is in this currency',
    { P18: true },
    purchase([purchaseCapability({ currency: 'EUR', maxAmount: MAX }), purchaseCapability()]),
  ),
];
