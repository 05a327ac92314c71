/** How a Principal proves control of its domain (interface §Verification, protocol §13). */
import { didWebDocumentUrl, parseDidWeb } from '@svc/protocol';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';
import { authorityOf, hostOf } from './domain.ts';

export const REVERIFIED_EVERY_HOURS = 24;

export const verificationOf = (
  { env }: Pick<ServiceIdentity, 'env'>,
  { did, domain, verificationState, verificationToken }: PrincipalRecord,
) => {
  const parsed = parseDidWeb(did);
  const scheme = env === 'development' && domain.includes('%3A') ? 'http' : 'https';
  return {
    state: verificationState,
    token: verificationToken,
    dns_txt: { name: `_svc-challenge.${hostOf(domain)}`, value: `svc-verification=${verificationToken}` },
    well_known: {
      url: `${scheme}://${authorityOf(domain)}/.well-known/svc-verification.json`,
      body: { did, token: verificationToken },
    },
    reverified_every_hours: REVERIFIED_EVERY_HOURS,
    did_document_url: parsed === null ? '' : didWebDocumentUrl(parsed, scheme),
  } as const;
};
