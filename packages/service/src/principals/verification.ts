/** How a Principal proves control of its domain (interface §Verification, protocol §13). */
import { didWebDocumentUrl, parseDidWeb } from '@svc/protocol';
import type { DomainClaim } from '../ports/hosted-principals.ts';
import type { PrincipalMemberRecord } from '../ports/principals.ts';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';
import { authorityOf, hostOf } from './domain.ts';

/** The same number is in `svc_check_due` in storage. */
const REVERIFIED_EVERY_HOURS = 24;

type Environment = Pick<ServiceIdentity, 'env'>;

const schemeOf = ({ env }: Environment, domain: string) =>
  env === 'development' && domain.includes('%3A') ? 'http' : 'https';

/** The two places where a domain can publish a token; one of them suffices. */
export const proofPlaces = (identity: Environment, { did, domain, token }: DomainClaim) =>
  ({
    dns_txt: { name: `_svc-challenge.${hostOf(domain)}`, value: `svc-verification=${token}` },
    well_known: {
      url: `${schemeOf(identity, domain)}://${authorityOf(domain)}/.well-known/svc-verification.json`,
      body: { did, token },
    },
  }) as const;

export const verificationOf = (
  identity: Environment,
  { did, domain, verificationState, verificationToken }: PrincipalMemberRecord,
) => {
  const parsed = parseDidWeb(did);
  return {
    state: verificationState,
    token: verificationToken,
    ...proofPlaces(identity, { did, domain, token: verificationToken }),
    reverified_every_hours: REVERIFIED_EVERY_HOURS,
    did_document_url: parsed === null ? '' : didWebDocumentUrl(parsed, schemeOf(identity, domain)),
  } as const;
};
