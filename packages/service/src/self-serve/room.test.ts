import { expect, it } from 'vitest';
import { requireRoomForChange } from './room.ts';

it('requireRoomForChange counts only changes of newcomers, and not those of orgs that never need a plan', async () => {
  const counted: string[] = [];
  const deps = {
    store: { selfServe: { takeChange: async (org: string) => counted.push(org) < 2 } },
    entitlements: { compOrgs: new Set(['org_staff']) },
    maxChangesWithoutPlan: 1,
  };
  const change = (crowd: 'newcomers' | 'tenants', org: string) =>
    requireRoomForChange(deps as never, { crowd, org });
  await change('tenants', 'org_paid');
  await change('newcomers', 'org_staff');
  await change('newcomers', 'org_new');
  await expect(change('newcomers', 'org_new')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(counted).toEqual(['org_new', 'org_new']);
});
