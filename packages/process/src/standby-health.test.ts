import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createStandbyHealth } from './standby-health.ts';

it.each([
  ['ok', 0],
  ['synchronous_standby_names is empty', 1],
  [null, -1],
])('the state %s of a promised standby is %d in svc_synchronous_standby_missing', async (found, value) => {
  const registry = new Registry();
  const describeStandby = () => (found === null ? Promise.reject(new Error('gone')) : Promise.resolve(found));
  const standby = createStandbyHealth(registry, { describeStandby });
  expect(await registry.metrics()).toContain(`svc_synchronous_standby_missing ${value}\n`);
  expect(await standby.describe()).toBe(found ?? 'unknown');
});
