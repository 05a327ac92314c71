/** `PUT /orgs/{org_id}/entitlement` (interface §Entitlement). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { newOrgId } from '../../world/deployment.ts';
import { fromNow, PUSH, withEntitlements } from './world.ts';

const { enforcing, put, get } = withEntitlements();

describe('PUT /orgs/{org_id}/entitlement', () => {
  it('stores the pushed entitlement', async () => {
    const orgId = await enforcing.createOrg();
    const pushed = {
      production: 'allowed',
      production_until: '2027-01-01T00:00:00.000Z',
      check_cap: 1_000_000_000,
      cap_since: '2026-11-01T00:00:00.000Z',
      reason: 'past_due_grace',
      as_of: '2026-11-02T00:00:00.000Z',
    };
    const { status, json } = await put(orgId, pushed);
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...pushed, org_id: orgId, stored: true, production_checks_since_cap: 0 });
    expect(Math.abs(Date.parse(String(json.updated_at)) - Date.now())).toBeLessThan(60_000);
  });

  it('accepts UTC in every spelling of RFC 3339', async () => {
    const orgId = await enforcing.createOrg();
    const pushed = {
      production_until: '2027-01-01t00:00:00z',
      check_cap: 1,
      cap_since: '2026-11-01T00:00:00.000+00:00',
      as_of: '2026-11-02t00:00:00-00:00',
    };
    expect((await put(orgId, pushed)).json).toMatchObject({
      production_until: '2027-01-01T00:00:00.000Z',
      cap_since: '2026-11-01T00:00:00.000Z',
      as_of: '2026-11-02T00:00:00.000Z',
    });
  });

  it('ignores an as_of older than the stored one (applied: false) and applies an equal one', async () => {
    const orgId = await enforcing.createOrg();
    await put(orgId, { reason: 'trial', as_of: '2026-11-02T00:00:00Z' });
    const before = await get(orgId);
    const older = await put(orgId, { production: 'blocked', as_of: '2026-11-01T23:59:59.999Z' });
    expect(older).toMatchObject({ status: 200, json: { ...before, applied: false } });
    expect(await get(orgId)).toEqual(before);
    const equal = await put(orgId, { reason: 'paid', as_of: '2026-11-02T00:00:00Z' });
    expect(equal.json).toMatchObject({ reason: 'paid', applied: true });
  });

  it('accepts as_of up to five minutes in the future', async () => {
    const orgId = await enforcing.createOrg();
    expect((await put(orgId, { as_of: fromNow(4 * 60_000) })).status).toBe(200);
    const { status, json } = await put(orgId, { as_of: fromNow(6 * 60_000) });
    expect([status, json.message]).toEqual([400, expect.stringContaining('as_of')]);
  });

  it.each<object>([
    { production: 'maybe' },
    { production: null },
    { production_until: 'tomorrow' },
    { production_until: '2026-02-30T00:00:00Z' },
    { production_until: '2026-01-01T00:00:00+01:00' },
    { production_until: 0 },
    { check_cap: -1, cap_since: '2026-01-01T00:00:00Z' },
    { check_cap: 1_000_000_001, cap_since: '2026-01-01T00:00:00Z' },
    { check_cap: 1.5, cap_since: '2026-01-01T00:00:00Z' },
    { check_cap: '5', cap_since: '2026-01-01T00:00:00Z' },
    { check_cap: 5 },
    { reason: 'free' },
    { reason: null },
    { as_of: null },
    { as_of: '2026-01-01' },
    { more: 1 },
    ...Object.keys(PUSH).map((name) => ({ [name]: undefined })),
  ])('refuses %o with 400', async (change) => {
    const { status, json } = await put(newOrgId(), change);
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('answers 404 to an org that does not exist', async () => {
    expect((await put(newOrgId())).status).toBe(404);
  });
});
