/** P17: constraint keys that the profile does not know (protocol §7). */

import { call, purchase } from '../../edits/authority-edits.ts';
import { apiCapability, purchaseCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const NOT_17: Covers = { P16: true, P17: false, P18: 'skipped', P19: 'skipped', P20: 'skipped' };

const unknown = (id: string, description: string, key: string, value: unknown): VectorCase =>
  deny(
    'UNKNOWN_CONSTRAINT',
    `p17-${id}`,
    description,
    NOT_17,
    purchase([purchaseCapability(JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`))]),
  );

export const cases: readonly VectorCase[] = [
  unknown(
    'unknown-key',
    'a constraint that nobody enforces must not be passed over',
    'merchantCategory',
    '5411',
  ),
  unknown('key-of-another-action', 'a key that is known for API calls only', 'methods', ['POST']),
  unknown('max-total', 'a budget is not enforced under svc-base-v1', 'maxTotal', 100000),
  unknown('max-uses', 'a number of uses is not enforced under svc-base-v1', 'maxUses', 3),
  unknown('key-case', 'keys have case', 'MaxAmount', 1),
  deny('UNKNOWN_CONSTRAINT', 'p17-proto-key', '__proto__ is a key like any other', NOT_17, (s) => {
    s.grant.editPayload = (json) => json.replace('"constraints":{', '"constraints":{"__proto__":{},');
  }),
  deny(
    'UNKNOWN_CONSTRAINT',
    'p17-max-per-period',
    'a budget per period is not enforced under svc-base-v1',
    NOT_17,
    purchase([purchaseCapability({ maxPerPeriod: 100000, period: 'day' })]),
  ),
  deny(
    'UNKNOWN_CONSTRAINT',
    'p17-api-max-uses',
    'a number of calls is not enforced under svc-base-v1',
    NOT_17,
    call([apiCapability({ maxUses: 3 })]),
  ),
  deny(
    'UNKNOWN_CONSTRAINT',
    'p17-api-key-of-purchase',
    'a key that is known for purchases only',
    NOT_17,
    call([apiCapability({ maxAmount: 1 })]),
  ),
  allow(
    'p17-unknown-beside-known',
    'a Capability with an unknown key does not spoil the next',
    { P17: true },
    purchase([purchaseCapability({ maxUses: 3 }), purchaseCapability()]),
  ),
];
