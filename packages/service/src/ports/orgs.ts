/** Orgs: customer accounts. */
import type { OrgId } from '@svc/protocol';

export interface OrgRecord {
  readonly orgId: OrgId;
  readonly slug: string;
  readonly name: string;
  readonly createdAtMs: number;
}

export interface OrgRepository {
  exists(orgId: OrgId): Promise<boolean>;
  /** Conflict when the slug is taken. */
  insert(org: Pick<OrgRecord, 'orgId' | 'slug' | 'name'>): Promise<OrgRecord>;
  find(orgId: OrgId): Promise<OrgRecord | null>;
  /** Whether it signed itself up and nobody pays for it. */
  isNewcomer(orgId: OrgId): Promise<boolean>;
  /** Its Principals and relying parties. Nobody else counts them before the end of the transaction. */
  countMembersForUpdate(orgId: OrgId): Promise<number>;
}
