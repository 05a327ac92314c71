/** A Principal about whose Grants several relying parties asked, and a Grant that somebody else forged in its name. */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { beforeAll, expect } from 'vitest';
import { withDeployment } from './deployment.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from './tenants.ts';

export interface Row {
  readonly receipt_id: string;
  readonly key_id: string | null;
}

/** The members are set from `beforeAll` on. */
export const withOwnDecisions = () => {
  const deployment = withDeployment();
  let orgRead: string;
  let own: Tenants;
  let otherShop: Tenants;
  /** Ids of all decisions about its Grants, latest first. */
  let expected: string[];
  let forged: string;
  let grants: HeldGrant[];

  const verify = async (tenants: Tenants, held: HeldGrant, change: object = {}) => {
    const body = { ...(await verifyBody(tenants, held)), ...change };
    return receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
  };

  /** Signs with another key under the kid of the Principal. */
  const forge = async ({ principalDid, principalKey, agent }: Tenants): Promise<HeldGrant> => {
    const { privateJwk } = await generatePrincipalKey();
    const { baseUrl } = deployment.process;
    const signer = signerFromJwk(privateJwk, `${principalDid}#key-1`);
    const principal = createPrincipalClient({ baseUrl, apiKey: principalKey, signer });
    return issueGrant({ principal, agent } as Tenants);
  };

  beforeAll(async () => {
    const orgId = await deployment.createOrg();
    orgRead = await deployment.createKey('org:read', orgId);
    own = await deployment.createTenants({ orgId });
    const { rpDid, rpKey } = await deployment.createTenants();
    otherShop = { ...own, rpDid, rpKey };
    const foreign = await deployment.createTenants();
    grants = [await issueGrant(own), await issueGrant(own)];
    const [one, two] = grants as [HeldGrant, HeldGrant];
    const receipts = [
      await verify(own, one),
      await verify(own, two),
      await verify(otherShop, one),
      await verify(otherShop, one, { action: {} }),
    ];
    forged = (await verify(own, await forge(own))).receipt_id;
    await verify(foreign, await issueGrant(foreign));
    // Its domain is no longer proven; the Grant is still its own.
    const setState = (state: string) =>
      deployment.sql.query(
        'update principals set verification_state = $1, version = version + 1 where did = $2',
        [state, own.principalDid],
      );
    await setState('unverified');
    receipts.push(await verify(own, two));
    await setState('verified');
    expect(receipts.map(({ reason }) => reason)).toEqual([
      null,
      null,
      null,
      'ACTION_MALFORMED',
      'ISSUER_UNVERIFIED',
    ]);
    expected = receipts
      .map(({ receipt_id: id }) => id)
      .sort()
      .reverse();
    const note = {
      type: 'dispute_opened',
      occurred_at: '2026-01-01T00:00:00Z',
      note: 'a secret of the shop',
    };
    const first = receipts[2]?.receipt_id;
    const reported = await deployment.call('POST', `/decisions/${first}/outcomes`, {
      key: rpKey,
      body: note,
    });
    expect(reported.status).toBe(201);
  });

  const get = (part = '', key = own.principalKey) =>
    deployment.call('GET', `/principals/${encodeURIComponent(own.principalDid)}/decisions${part}`, { key });
  return {
    get,
    verify,
    get own() {
      return own;
    },
    get orgRead() {
      return orgRead;
    },
    get otherShop() {
      return otherShop;
    },
    get expected() {
      return expected;
    },
    get forged() {
      return forged;
    },
    get grants() {
      return grants;
    },
  };
};
