/** P16 to P20 narrow the Capabilities one after another; the first one left is the authority (protocol §7). */

import { call, NOT_20, purchase } from '../../edits/authority-edits.ts';
import { apiCapability, purchaseCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const NOT_19: Covers = { P18: true, P19: false, P20: 'skipped' };

export const cases: readonly VectorCase[] = [
  allow(
    'survivors-first-is-authority',
    'of two Capabilities that hold, the first is the authority',
    { P20: true },
    purchase([purchaseCapability({ maxAmount: 50000 }), purchaseCapability({ maxAmount: 90000 })]),
  ),
  allow(
    'survivors-fourth-is-authority',
    'each of the first three falls at another check',
    { P16: true, P17: true, P18: true, P19: true, P20: true },
    purchase([
      purchaseCapability({ maxUses: 1 }),
      purchaseCapability({ currency: 'EUR' }),
      purchaseCapability({ maxAmount: 100 }),
      purchaseCapability({ maxAmount: 42700 }),
      purchaseCapability({ maxAmount: 90000 }),
    ]),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'survivors-amount-and-resource',
    'one Capability has the amount and another the resource: together they grant nothing',
    NOT_20,
    purchase([
      purchaseCapability({ maxAmount: 90000 }, { resources: ['cart/**'] }),
      purchaseCapability({ maxAmount: 100 }, { resources: ['order/**'] }),
    ]),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'survivors-currency-and-amount',
    'one Capability has the currency and another the amount: together they grant nothing',
    NOT_19,
    purchase([
      purchaseCapability({ currency: 'EUR', maxAmount: 90000 }),
      purchaseCapability({ currency: 'USD', maxAmount: 100 }),
    ]),
  ),
  deny(
    'RESOURCE_NOT_AUTHORIZED',
    'survivors-method-and-resource',
    'one Capability has the method and another the URL: together they grant nothing',
    NOT_20,
    call([
      apiCapability({ methods: ['GET'] }),
      apiCapability({ methods: ['POST'] }, { resources: ['https://api.shop.example/v2/**'] }),
    ]),
  ),
];
