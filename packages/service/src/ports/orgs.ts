/** Storage of orgs, which are customer accounts. */
import type { OrgId } from '@svc/protocol';

export interface OrgRecord {
  readonly orgId: OrgId;
  readonly slug: string;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface OrgRepository {
  exists(orgId: OrgId): Promise<boolean>;
  /** Rejects with `conflict` when the slug is taken. */
  insert(org: Pick<OrgRecord, 'orgId' | 'slug' | 'name'>): Promise<OrgRecord>;
  find(orgId: OrgId): Promise<OrgRecord | null>;
  /** Whether the org signed itself up and nobody pays for it. */
  isNewcomer(orgId: OrgId): Promise<boolean>;
  /** Number of its Principals and relying parties. Until the end of the transaction, other calls for the org wait. */
  countMembersForUpdate(orgId: OrgId): Promise<number>;
}
