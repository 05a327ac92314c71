/** Principals on the wire (interface §Principal). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type PrincipalCreated,
  type PrincipalRecord,
  type ServiceIdentity,
  verificationOf,
} from '@svc/service';

const presentPrincipal = (identity: ServiceIdentity, principal: PrincipalRecord) => ({
  did: principal.did,
  kind: principal.kind,
  domain: principal.domain,
  verification: verificationOf(identity, principal),
  created_at: formatTimestamp(principal.createdAtMs),
  org_id: principal.orgId,
  may_be_named: principal.mayBeNamed,
});

export const presentPrincipalCreated = (
  identity: ServiceIdentity,
  { principal, apiKey, apiKeyId }: PrincipalCreated,
): Body<Routes['createPrincipal'], 201> => ({
  ...presentPrincipal(identity, principal),
  did_document_resolved: principal.document !== null,
  api_key: apiKey,
  api_key_id: apiKeyId,
});
