import { describe, expect, it } from 'vitest';
import { exclusiveKeyOf } from '../claims/release.ts';
import { Waits } from '../lib/waits.ts';
import type { Caller } from './caller.ts';
import { findTenantFor, tenantOf } from './tenant.ts';

const did = 'did:web:shop.example';
/** Callers of one DID that two customers have registered. */
const inOrgs = (orgId: string | null, otherOrgId: string | null) => ({
  principal: { class: 'principal', subject: did, orgId, isNewcomer: false } as unknown as Caller,
  rp: {
    ...{ class: 'rp', subject: did, isNewcomer: false },
    relyingParty: { did, orgId: otherOrgId },
  } as unknown as Caller,
});

describe('a DID that is a Principal of one customer and a relying party of another', () => {
  it('is two tenants, both in orgs and outside of orgs', () => {
    const member = inOrgs('org_1', 'org_2');
    expect([tenantOf(member.principal), tenantOf(member.rp)]).toEqual([
      { crowd: 'tenants', org: 'org_1', subject: `principal ${did}` },
      { crowd: 'tenants', org: 'org_2', subject: `rp ${did}` },
    ]);
    const alone = inOrgs(null, null);
    expect([tenantOf(alone.principal), tenantOf(alone.rp)]).toEqual([
      { crowd: 'tenants', org: `principal ${did}`, subject: `principal ${did}` },
      { crowd: 'tenants', org: `rp ${did}`, subject: `rp ${did}` },
    ]);
  });

  it('is the same tenant by its record and by its key', async () => {
    const orgs = { orgs: { isNewcomer: async () => false } } as unknown as Parameters<
      typeof findTenantFor
    >[0];
    for (const orgId of ['org_1', null] as const) {
      const { principal, rp } = inOrgs(orgId, orgId);
      const record = { orgId: orgId as never, did };
      expect(await findTenantFor(orgs, 'principal', record)).toEqual(tenantOf(principal));
      expect(await findTenantFor(orgs, 'rp', record)).toEqual(tenantOf(rp));
    }
  });

  it('has separate places for waiting polls on each side', async () => {
    const { principal, rp } = inOrgs('org_1', 'org_2');
    const waits = new Waits(async () => []);
    const gone = new AbortController();
    const wait = (caller: Caller) => waits.until('id', tenantOf(caller), 600_000, gone.signal);
    const waiting = Array.from({ length: 32 }, () => wait(rp));
    await expect(wait(rp)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const own = wait(principal);
    gone.abort();
    await Promise.all([...waiting, own]);
  });

  it('has separate exclusive keys on each side, so that neither blocks the other', () => {
    expect(exclusiveKeyOf('principal', did)).not.toBe(exclusiveKeyOf('relying_party', did));
  });
});
