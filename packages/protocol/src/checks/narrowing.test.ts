/**
 * The checks' conditions on one Capability are also used outside the pipeline, where no earlier check has removed any.
 */
import { expect, it } from 'vitest';
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import { allowsCurrency } from './p18-currency-authorized.ts';
import { allowsAmount } from './p19-amount-authorized.ts';
import { resourceTestOf } from './p20-resource-authorized.ts';

const call: Action = { type: 'api:call', method: 'GET', resource: 'https://api.shop.example/v1/orders' };
const capability = (other: object): Capability =>
  ({ action: 'api:call', constraints: { methods: ['GET'] }, ...other }) as unknown as Capability;

it('an API call is allowed for any currency and amount, even if a Capability names a limit', () => {
  const named = capability({ constraints: { methods: ['GET'], currency: 'USD', maxAmount: 'none' } });
  expect(allowsCurrency(named, call)).toBe(true);
  expect(allowsAmount(named, call)).toBe(true);
});

it('a URL without a normal form matches no listed resource, and is allowed if no resources are listed', () => {
  const isAmong = resourceTestOf({ ...call, resource: 'https://api.shop.example:x/' });
  expect(isAmong(capability({ resources: ['**', 'https://**'] }))).toBe(false);
  expect(isAmong(capability({}))).toBe(true);
});
