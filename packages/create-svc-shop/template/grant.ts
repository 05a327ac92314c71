/**
 * `npm run grant CENTS`: the Principal allows the Agent to buy anything at the shop for a day, for at most this many
 * cents per purchase. To limit the total, add `maxTotalMinor`; the shop must then be registered with the profile
 * `svc-base-v2`. Missing keys are generated and stored in `.env`, and so is the Grant.
 */
import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { setInEnv } from './env.ts';

const { SVC_URL = '', SHOP_DID = '', PRINCIPAL_DID = '', SVC_PRINCIPAL_KEY = '' } = process.env;
const DAY_SECONDS = 86_400;

/** The key in `.env`, or a new key if there is none. */
async function keyOf(name: string, generate: typeof generateAgentKey | typeof generatePrincipalKey) {
  const known = process.env[name];
  if (known) return JSON.parse(known);
  const { privateJwk } = await generate();
  setInEnv(name, JSON.stringify(privateJwk));
  return privateJwk;
}

async function issue(cents: number): Promise<string> {
  const agent = agentFromJwk(await keyOf('AGENT_KEY', generateAgentKey));
  const key = await keyOf('PRINCIPAL_KEY', generatePrincipalKey);
  if (PRINCIPAL_DID === '' || SVC_PRINCIPAL_KEY === '') {
    const publicKey = agentFromJwk(key).did.replace('did:key:', '');
    throw new Error(`The Principal is not registered yet. The operator of the service does that with
  svc-admin principal create --slug my-shop-owner --key ${publicKey} --api ${SVC_URL}
which shows its DID and its API key: put them into .env as PRINCIPAL_DID and SVC_PRINCIPAL_KEY.`);
  }
  // The API key comes from SVC_PRINCIPAL_KEY.
  const client = createPrincipalClient({
    baseUrl: SVC_URL,
    signer: signerFromJwk(key, `${PRINCIPAL_DID}#key-1`),
  });
  const { grant, grantId } = await client.grants.issue({
    agent: agent.did,
    audience: [SHOP_DID],
    capabilities: [purchase({ maxAmountMinor: cents, currency: 'USD', resources: ['item/*'] })],
    lifetimeSeconds: DAY_SECONDS,
  });
  setInEnv('GRANT', grant);
  return grantId;
}

const cents = Number(process.argv[2] ?? '50000');
try {
  const grantId = await issue(cents);
  console.log(
    `${grantId}, now in .env: purchases of ${(cents / 100).toFixed(2)} USD at most each, for a day`,
  );
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
