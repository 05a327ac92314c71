import { withOwnDeployment } from '../../world/deployment.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';

export const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();

export const PUSH = {
  production: 'allowed',
  production_until: null,
  check_cap: null,
  cap_since: null,
  reason: 'paid',
  as_of: '2026-01-01T00:00:00Z',
};

/** An API that enforces entitlements, with the console's calls that push and read them. */
export const withEntitlements = () => {
  const enforcing = withOwnDeployment({ SVC_PROVISION_KEYS: PROVISION_KEY, SVC_ENTITLEMENTS: 'enforce' });
  const put = (orgId: string, change: object = {}) =>
    enforcing.call('PUT', `/orgs/${orgId}/entitlement`, {
      key: PROVISION_KEY,
      body: { ...PUSH, as_of: fromNow(0), ...change },
    });
  const get = async (orgId: string) =>
    (await enforcing.call('GET', `/orgs/${orgId}/entitlement`, { key: PROVISION_KEY })).json;
  return { enforcing, put, get };
};
