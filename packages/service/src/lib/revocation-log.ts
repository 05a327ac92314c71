/**
 * One line in the log for each thing that takes authority away, written when it is certain that it was asked for by whom it
 * belongs to and before it is committed: a line too many revokes what its owner wanted revoked, a line too few would let a
 * restored backup allow it again. `svc-admin restore --log` reads them.
 */
import type { DidWeb, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';

type Revoked =
  | { readonly principal: DidWeb; readonly grant_ids: readonly GrantId[] }
  | { readonly principal: DidWeb; readonly kid: string }
  | { readonly key_id: string };

/** A line stays below what log shippers take. */
const IDS_PER_LINE = 500;

export const logRevocation = ({ log }: Pick<ServiceDeps, 'log'>, revoked: Revoked): void => {
  if (!('grant_ids' in revoked)) {
    log.info('revocation', revoked);
    return;
  }
  const { principal, grant_ids: ids } = revoked;
  for (let from = 0; from < ids.length; from += IDS_PER_LINE)
    log.info('revocation', { principal, grant_ids: ids.slice(from, from + IDS_PER_LINE) });
};
