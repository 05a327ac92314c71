/** The verify path: prepared statements only, one round trip each. */
import type { DidWeb, ReceiptId, Sha256 } from '@svc/protocol';
import type { RpCallerRecord, VerifyStore } from '@svc/service';
import type { Database } from '../database.ts';
import { entitlementJson } from '../repositories/entitlements.ts';
import { type CommitContext, commitDecisions } from './commit-decisions.ts';
import { findFacts } from './find-facts.ts';
import { findStored } from './find-stored.ts';

export interface VerifyStoreOptions {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly lookupMs: number;
  readonly commit: CommitContext;
}

// The key comes back revoked or not: authentication decides, so that it can tell the two apart.
const rpCallerSql = `
  select json_build_object('keyHash', encode(k.key_hash, 'hex'), 'keyId', k.key_id, 'role', k.role,
      'subject', k.subject, 'label', k.label, 'createdAtMs', svc_ms(k.created_at),
      'revokedAtMs', svc_ms(k.revoked_at)) as key,
    json_build_object('did', r.did, 'kind', r.kind, 'slug', r.slug, 'name', r.name,
      'proofWindowSeconds', r.proof_window_seconds, 'verifyRateLimitPerMinute', r.verify_rate_limit_per_minute,
      'profile', r.profile, 'orgId', r.org_id, 'createdAtMs', svc_ms(r.created_at), 'version', r.version
    ) as "relyingParty",
    case when e.org_id is not null then ${entitlementJson} end as entitlement
  from api_keys k join relying_parties r on r.did = k.subject
  left join entitlements e on e.org_id = r.org_id
  where k.key_hash = decode($1, 'hex') and k.role = 'rp'`;

const statusCredentialSql = `
  select credential, credential_hash as "credentialHash" from status_lists where url = $1`;

// The age is the one after which \`svc_commit_decisions\` lets the key be used again.
const idempotentSql = `
  select k.body_hash as "bodyHash", r.receipt_id as "receiptId", r.relying_party as "relyingParty", r.jws
  from idempotency_keys k join receipts r on r.receipt_id = k.receipt_id
  where k.relying_party = $1 and k.key = $2 and k.created_at >= clock_timestamp() - interval '10 minutes'`;

export function verifyStore({ database, databaseUrl, lookupMs, commit }: VerifyStoreOptions): VerifyStore {
  return {
    async findRpCaller(keyHash) {
      const rows = await database.read<RpCallerRecord>({
        name: 'find_rp_caller',
        text: rpCallerSql,
        values: [keyHash],
      });
      return rows[0] ?? null;
    },
    findFacts: (queries) => findFacts(database, queries),
    async findStatusCredential(url) {
      const rows = await database.read<{ credential: string; credentialHash: Sha256 }>({
        name: 'find_status_credential',
        text: statusCredentialSql,
        values: [url],
      });
      return rows[0] ?? null;
    },
    async findIdempotent(relyingParty, key) {
      const [row] = await database.read<IdempotentRow>({
        name: 'find_idempotent',
        text: idempotentSql,
        values: [relyingParty, key],
      });
      if (row === undefined) return null;
      const { bodyHash, ...receipt } = row;
      return { bodyHash, receipt };
    },
    commitDecisions: (decisions) => commitDecisions(commit, decisions),
    findStored: (receiptIds) => findStored(databaseUrl, receiptIds, lookupMs),
  };
}

interface IdempotentRow {
  readonly bodyHash: string;
  readonly receiptId: ReceiptId;
  readonly relyingParty: DidWeb;
  readonly jws: string;
}
