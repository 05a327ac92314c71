/** The sandbox of the playground, on two nodes. */
import { DOMAIN } from './api-node.ts';
import { contractCall, freshAddress } from './contract-call.ts';
import { type Deployment, withDeployment } from './deployment.ts';

export const PRINCIPAL = `did:web:${DOMAIN}:org:sandbox`;
export const RP = `did:web:${DOMAIN}:rp:sandbox`;
/** The authority of its Grants. */
export const AUTHORITY = {
  action: 'commerce:purchase',
  constraints: { maxAmount: 50_000, currency: 'USD' },
  resources: ['sandbox/**'],
};

type Minted = Readonly<Record<string, unknown>>;

export const bodyOf = ({ grant, proof, action }: Minted) => ({ grant, proof, action });

export const withSandbox = (deployment: Deployment = withDeployment()) => {
  const post = (path: string, body: unknown, node = 0, ip = freshAddress()) =>
    contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', path, { body, ip });
  const mint = async (body: object = {}, node = 0) => (await post('/demo/mint', body, node)).json;
  const verify = async (minted: Minted, node = 0) => (await post('/demo/verify', bodyOf(minted), node)).json;
  return { deployment, post, mint, verify };
};
