/** `POST /orgs/self-serve/starter` (interface §Self-serve and sandbox records). Who may call: access matrix. */
import { parseProof } from '@svc/protocol';
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

const verify = async ({ grant, proof, action }: Starter, key: string, node = 0) =>
  (
    await contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', '/verify', {
      key,
      body: { grant, proof, action },
    })
  ).json;

describe('POST /orgs/self-serve/starter', () => {
  it('gives a fresh starter each time, which the other node allows', async () => {
    const tenant = await signUp();
    const body = { rp_did: tenant.relying_party.did };
    const starters = [
      (await send('/starter', body)).json as Starter,
      (await send('/starter', body, { node: 1 })).json as Starter,
    ];
    expect(Object.keys(starters[0] ?? {})).toEqual(Object.keys(tenant.starter));
    expect(new Set(starters.map(({ grant_id: id }) => id)).size).toBe(2);
    for (const [i, starter] of starters.entries())
      expect(await verify(starter, tenant.rp_verify_key, 1 - i)).toMatchObject({ decision: 'ALLOW' });
  });

  it('expires_at follows the window that the relying party has now', async () => {
    const tenant = await signUp();
    const { did } = tenant.relying_party;
    await deployment.call('PATCH', `/relying-parties/${did}`, {
      key: tenant.org_admin_key,
      body: { proof_window_seconds: 10 },
    });
    const starter = (await send('/starter', { rp_did: did })).json as Starter;
    const proof = parseProof(starter.proof);
    expect(Date.parse(String(starter.expires_at))).toBe(
      ((proof.ok ? proof.value.iatSeconds : 0) + 10) * 1000,
    );
  });
});
