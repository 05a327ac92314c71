/** `POST /orgs/self-serve/first-receipt` (interface §Self-serve and sandbox records). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { type ContractAnswer, contractCall, freshAddress } from '../../world/contract-call.ts';
import { type Deployment, randomSlug, withDeployment } from '../../world/deployment.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const OTHER_PROVISION_KEY = 'provision-key-abcdefghij-0123456789';
const ENV = { SVC_PROVISION_KEYS: `${PROVISION_KEY},${OTHER_PROVISION_KEY}`, SVC_SELF_SERVE: '1' };
const UNLIMITED = { SVC_SELF_SERVE_PER_MINUTE: '100000', SVC_SELF_SERVE_PER_DAY: '1000000' };

const deployment = withDeployment({ ...ENV, ...UNLIMITED, SVC_ENTITLEMENTS: 'enforce' }, 2);

interface SignUp {
  readonly slug?: unknown;
  readonly name?: unknown;
  readonly admin_email?: unknown;
  readonly plan?: unknown;
}

const requestOf = (change: SignUp = {}) => ({
  slug: randomSlug('t'),
  name: 'A tenant',
  admin_email: 'admin@tenant.example',
  ...change,
});

interface Sent {
  readonly on?: Deployment;
  readonly node?: number;
  readonly key?: string;
  readonly customer?: string;
}

/** Each sign-up is of a customer of its own unless named. */
const send = (
  path: string,
  body: unknown,
  { on = deployment, node = 0, key = PROVISION_KEY, customer }: Sent = {},
) =>
  contractCall(on.processes[node]?.baseUrl ?? '', 'POST', `/orgs/self-serve${path}`, {
    key,
    body,
    headers: { 'x-svc-client-ip': customer ?? freshAddress() },
  });

interface Starter extends Record<string, unknown> {
  readonly grant: string;
  readonly proof: string;
  readonly verify_curl: string;
}

interface Bundle {
  readonly org: Readonly<Record<string, string>>;
  readonly org_admin_key: string;
  readonly relying_party: { readonly did: string };
  readonly rp_verify_key: string;
  readonly starter: Starter;
}

const bundleOf = ({ status, text, json }: ContractAnswer): Bundle => {
  if (status !== 201) throw new Error(`self-serve answered ${status}: ${text}`);
  return json as unknown as Bundle;
};
const signUp = async (change: SignUp = {}, sent: Sent = {}) =>
  bundleOf(await send('', requestOf(change), sent));

describe('POST /orgs/self-serve/first-receipt', () => {
  it('is a real decision in the tenant’s ledger, under its key', async () => {
    const tenant = await signUp();
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did }, { node: 1 });
    expect([status, json]).toMatchObject([
      200,
      { decision: 'ALLOW', relying_party: tenant.relying_party.did },
    ]);
    const { json: me } = await deployment.call('GET', '/me', { key: tenant.rp_verify_key });
    const { json: list } = await deployment.call('GET', '/decisions', { key: tenant.rp_verify_key });
    expect(list.decisions).toMatchObject([
      { receipt_id: json.receipt_id, decision: 'ALLOW', key_id: me.key_id, amount: 1_000 },
    ]);
  });

  it('a tenant without a live key is a 400 that says so', async () => {
    const tenant = await signUp();
    await deployment.revokeKey(tenant.rp_verify_key);
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did });
    expect([status, json.message]).toEqual([400, expect.stringContaining('no live API key')]);
  });
});
