/** How many Principals and relying parties an org may have (protocol §13). */
import type { OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import type { Repositories } from '../ports/store.ts';

/**
 * Throws `INVALID_REQUEST` when the org has as many members as it may: each member has its own keys, limits and status
 * lists. Until the end of the transaction no other member can be registered for the org. Null: a member of no org,
 * which the operator registers.
 */
export const requireRoomForMember = async (
  { maxMembers }: Pick<ServiceDeps, 'maxMembers'>,
  tx: Pick<Repositories, 'orgs'>,
  orgId: OrgId | null,
): Promise<void> => {
  if (orgId === null) return;
  const members = await tx.orgs.countMembersForUpdate(orgId);
  if (members >= maxMembers)
    throw invalidRequest(
      `${orgId} has ${members} Principals and relying parties, and ${maxMembers} are allowed; ask the operator for more.`,
    );
};
