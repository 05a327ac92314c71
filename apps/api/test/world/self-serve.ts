/** Self-serve as the console calls it: sign-ups, and what they receive. */
import { type ContractAnswer, contractCall, freshAddress } from './contract-call.ts';
import { type Deployment, randomSlug, withOwnDeployment } from './deployment.ts';

export const PROVISION_KEY = 'provision-key-0123456789-0123456789';
export const OTHER_PROVISION_KEY = 'provision-key-abcdefghij-0123456789';
export const SELF_SERVE_ENV = {
  SVC_PROVISION_KEYS: `${PROVISION_KEY},${OTHER_PROVISION_KEY}`,
  SVC_SELF_SERVE: '1',
};
const UNLIMITED = { SVC_SELF_SERVE_PER_MINUTE: '100000', SVC_SELF_SERVE_PER_DAY: '1000000' };

export interface SignUp {
  readonly slug?: unknown;
  readonly name?: unknown;
  readonly admin_email?: unknown;
  readonly plan?: unknown;
}

export const requestOf = (change: SignUp = {}) => ({
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

export interface Starter extends Record<string, unknown> {
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

/** Declares two nodes with self-serve for a test file. Plans are enforced, and sign-ups have no ceiling. */
export const withSelfServe = () => {
  const deployment = withOwnDeployment({ ...SELF_SERVE_ENV, ...UNLIMITED, SVC_ENTITLEMENTS: 'enforce' }, 2);
  /** Each sign-up is for a new customer unless one is named. */
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
  const signUp = async (change: SignUp = {}, sent: Sent = {}) =>
    bundleOf(await send('', requestOf(change), sent));
  const verify = async ({ grant, proof, action }: Starter, key: string, node = 0) =>
    (
      await contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', '/verify', {
        key,
        body: { grant, proof, action },
      })
    ).json;
  return { deployment, send, signUp, verify };
};
