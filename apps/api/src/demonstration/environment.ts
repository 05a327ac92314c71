/** The demonstration as an environment file that `node --env-file` and a shell can read. */
import type { Tenants } from './tenants.ts';
import type { Walkthrough } from './walkthrough.ts';

interface Service {
  readonly baseUrl: string;
  readonly serviceDid: string;
}

/**
 * Lines `NAME=value` for the service, a relying party, a Principal and an Agent with their keys, and a Grant. Secret.
 */
export const environmentOf = (
  { baseUrl, serviceDid }: Service,
  tenants: Tenants,
  { grant }: Walkthrough['openGrant'],
): string => {
  const values = {
    SVC_URL: baseUrl,
    SVC_DID: serviceDid,
    SHOP_DID: tenants.relyingPartyDid,
    SVC_RP_KEY: tenants.relyingPartyKey,
    PRINCIPAL_DID: tenants.principalDid,
    SVC_PRINCIPAL_KEY: tenants.principalKey,
    PRINCIPAL_KEY: `'${JSON.stringify(tenants.principalJwk)}'`,
    AGENT_DID: tenants.agent.did,
    AGENT_KEY: `'${JSON.stringify(tenants.agentJwk)}'`,
    GRANT: grant,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
};
