/** P16–P20: which Capabilities survive, and which of them is the authority (protocol §6, §7). */
import { API_CALL, apiCapability, type Members, purchaseCapability, type Scene } from '../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../vector-case.ts';

export const purchase =
  (list: readonly Members[], action: Members = {}) =>
  (s: Scene) => {
    Object.assign(s.action, action);
    s.grant.subject.capabilities = list;
  };
export const call =
  (list: readonly Members[], action: Members = {}) =>
  (s: Scene) => {
    s.action = { ...API_CALL, ...action };
    s.grant.subject.capabilities = list;
  };

const MAX = Number.MAX_SAFE_INTEGER;
const NOT_16: Covers = {
  P16: false,
  P17: 'skipped',
  P18: 'skipped',
  P19: 'skipped',
  P20: 'skipped',
  T5: 'skipped',
};
const NOT_17: Covers = { P16: true, P17: false, P18: 'skipped', P19: 'skipped', P20: 'skipped' };
const NOT_18: Covers = { P17: true, P18: false, P19: 'skipped', P20: 'skipped' };
const NOT_19: Covers = { P18: true, P19: false, P20: 'skipped' };
export const NOT_20: Covers = { P19: true, P20: false, T5: 'skipped' };

const KIND: readonly VectorCase[] = [
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

const unknown = (id: string, description: string, key: string, value: unknown): VectorCase =>
  deny(
    'UNKNOWN_CONSTRAINT',
    `p17-${id}`,
    description,
    NOT_17,
    purchase([purchaseCapability(JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`))]),
  );

const CONSTRAINTS: readonly VectorCase[] = [
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

const CURRENCIES: readonly VectorCase[] = [
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

const ceiling = (maxAmount: number, amount: number) =>
  purchase([purchaseCapability({ maxAmount })], { amount });

const AMOUNTS: readonly VectorCase[] = [
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

const SURVIVORS: readonly VectorCase[] = [
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

export const authorityCases: readonly VectorCase[] = [
  ...KIND,
  ...CONSTRAINTS,
  ...CURRENCIES,
  ...AMOUNTS,
  ...SURVIVORS,
];
