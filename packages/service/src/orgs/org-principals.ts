/** All member Principals of an org with their records, however many: read page by page. */
import type { OrgId } from '@svc/protocol';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { Store } from '../ports/store.ts';

const PAGE = 200;

/** Ascending DIDs. */
export const listOrgPrincipals = async (
  { principals }: Pick<Store, 'principals'>,
  orgId: OrgId,
): Promise<readonly PrincipalRecord[]> => {
  const all: PrincipalRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await principals.list({
      orgId,
      limit: PAGE,
      ...(last === undefined ? {} : { afterDid: last.did }),
    });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
};
