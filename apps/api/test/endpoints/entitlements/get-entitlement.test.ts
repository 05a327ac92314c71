/** `GET /orgs/{org_id}/entitlement` (interface §Entitlement). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { newOrgId } from '../../world/deployment.ts';
import { withEntitlements } from './world.ts';

const { enforcing, put, get } = withEntitlements();

describe('GET /orgs/{org_id}/entitlement', () => {
  it('answers stored: false for an org without an entitlement', async () => {
    const orgId = await enforcing.createOrg();
    expect(await get(orgId)).toEqual({
      org_id: orgId,
      stored: false,
      production: null,
      production_until: null,
      check_cap: null,
      cap_since: null,
      reason: null,
      as_of: null,
      updated_at: null,
      production_checks_since_cap: null,
      comp: false,
      effective: 'blocked',
      effective_detail: 'this org has no plan',
      enforced: true,
    });
  });

  it('answers 404 to an org that does not exist', async () => {
    const path = `/orgs/${newOrgId()}/entitlement`;
    expect((await enforcing.call('GET', path, { key: ADMIN_TOKEN })).status).toBe(404);
  });

  it.each([
    [{}, 'allowed', null],
    [{ production: 'blocked', reason: 'canceled' }, 'blocked', 'production is blocked (canceled)'],
    [{ production_until: '2099-01-01T00:00:00Z' }, 'allowed', null],
    [{ production_until: '2026-01-01T00:00:00Z' }, 'blocked', 'production ended at 2026-01-01T00:00:00.000Z'],
    [{ check_cap: 1, cap_since: '2026-01-01T00:00:00Z' }, 'allowed', null],
    [
      { check_cap: 0, cap_since: '2026-01-01T00:00:00Z' },
      'blocked',
      'all 0 checks since 2026-01-01T00:00:00.000Z are used',
    ],
    [{ check_cap: 0, cap_since: '2099-01-01T00:00:00Z' }, 'allowed', null],
  ])('derives from %j that production checks are %s', async (change, effective, detail) => {
    const orgId = await enforcing.createOrg();
    const { json } = await put(orgId, change);
    expect(json).toMatchObject({ applied: true, effective, effective_detail: detail });
    const { applied: _, ...rest } = json;
    expect(await get(orgId)).toEqual(rest);
  });
});
