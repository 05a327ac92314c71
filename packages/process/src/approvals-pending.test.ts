/** The gauge of pending approvals shows their number, and -1 if storage does not answer. */
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createPendingApprovals } from './approvals-pending.ts';

it.each([
  ['the number of pending approvals', () => Promise.resolve(7), 7],
  ['-1 if storage fails', () => Promise.reject(new Error('gone')), -1],
  ['-1 if storage does not answer', () => new Promise<number>(() => {}), -1],
])('svc_approvals_pending is %s', async (_, countPending, value) => {
  const registry = new Registry();
  createPendingApprovals(registry, { countPending });
  expect(await registry.metrics()).toContain(`\nsvc_approvals_pending ${value}\n`);
});
