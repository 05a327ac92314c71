/** P16: type of action and method (protocol §7). */

import { call, purchase } from '../../edits/authority-edits.ts';
import { apiCapability, purchaseCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const NOT_16: Covers = {
  P16: false,
  P17: 'skipped',
  P18: 'skipped',
  P19: 'skipped',
  P20: 'skipped',
  T5: 'skipped',
};

export const cases: readonly VectorCase[] = [
  deny(
    'ACTION_NOT_AUTHORIZED',
    'p16-another-type',
    'a Grant for API calls allows no purchase',
    NOT_16,
    purchase([apiCapability()]),
  ),
  deny(
    'ACTION_NOT_AUTHORIZED',
    'p16-another-method',
    'a method that no Capability names',
    NOT_16,
    call([apiCapability({ methods: ['GET', 'HEAD'] })]),
  ),
  allow(
    'p16-second-capability',
    'the second Capability is of this type',
    { P16: true, P20: true },
    purchase([apiCapability(), purchaseCapability()]),
  ),
];
