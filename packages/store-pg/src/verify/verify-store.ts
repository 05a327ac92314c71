/** The verify path: prepared statements only, one round trip each. */
import type { ReceiptId, Sha256 } from '@svc/protocol';
import type { RpCallerRecord, VerifyStore } from '@svc/service';
import type { Database } from '../database.ts';
import type { DeadlinePool } from '../deadline-pool.ts';
import { DURABLE } from '../durable.ts';
import { toStoreError } from '../errors.ts';
import { entitlementJson } from '../repositories/entitlements.ts';
import { isNewcomerSql } from '../repositories/newcomers.ts';
import type { Statement } from '../statement.ts';
import { type CommitContext, commitDecisions } from './commit-decisions.ts';
import { type BudgetCommitContext, commitOnBudgets } from './commit-on-budgets.ts';
import { commitStatement } from './commit-parameters.ts';
import { findBudgets } from './find-budgets.ts';
import { factsStatement, findFacts } from './find-facts.ts';
import { findStored, storedStatement } from './find-stored.ts';

export interface VerifyStoreOptions {
  readonly database: Database;
  readonly lookups: { readonly pool: DeadlinePool; readonly deadlineMs: number };
  readonly commit: CommitContext;
  readonly commitOnBudgets: BudgetCommitContext;
}

// Also answers revoked keys, because authentication must distinguish revoked from unknown.
const rpCallerSql = `
  select json_build_object('keyHash', encode(k.key_hash, 'hex'), 'keyId', k.key_id, 'role', k.role,
      'subject', k.subject, 'label', k.label, 'createdAtMs', svc_ms(k.created_at),
      'revokedAtMs', svc_ms(k.revoked_at)) as key,
    json_build_object('did', r.did, 'kind', r.kind, 'slug', r.slug, 'name', r.name,
      'proofWindowSeconds', r.proof_window_seconds, 'verifyRateLimitPerMinute', r.verify_rate_limit_per_minute,
      'profile', r.profile, 'orgId', r.org_id,
      'claimExpiresAtMs', svc_ms(r.claim_expires_at), 'verificationToken', r.verification_token, 'createdAtMs', svc_ms(r.created_at), 'version', r.version
    ) as "relyingParty",
    case when e.org_id is not null then ${entitlementJson} end as entitlement,
    ${isNewcomerSql('r.org_id')} as "isNewcomer", r.is_paused or s.is_paused as "isPaused"
  from api_keys k join relying_parties r on r.did = k.subject cross join ledger_seal s
  left join entitlements e on e.org_id = r.org_id
  where k.key_hash = decode($1, 'hex') and k.role = 'rp'`;

const statusCredentialSql = `
  select credential, credential_hash as "credentialHash" from status_lists where url = $1`;

// The same age after which `svc_commit_decisions` lets the key be used again.
const idempotencySql = `
  select body_hash as "bodyHash", receipt_id as "receiptId" from idempotency_keys
  where relying_party = $1 and key = $2 and created_at >= clock_timestamp() - interval '10 minutes'`;

// Never joined with the table that leads to the id: an id that the planner does not know locks the partitions of all
// days.
const receiptSql = 'select jws from receipts where receipt_id = $1';

const rpCallerStatement = (keyHash: string): Statement => ({
  name: 'find_rp_caller',
  text: rpCallerSql,
  values: [keyHash],
});

/** The statements of decisions, with empty input. */
export const readsWarmUp: readonly Statement[] = [rpCallerStatement(''), factsStatement([], [])];
export const commitsWarmUp: readonly Statement[] = [commitStatement([])];
export const lookupsWarmUp: readonly Statement[] = [storedStatement([])];

export function verifyStore(options: VerifyStoreOptions): VerifyStore {
  const { database, lookups, commit } = options;
  return {
    async findRpCaller(keyHash) {
      const rows = await database.read<RpCallerRecord>(rpCallerStatement(keyHash));
      return rows[0] ?? null;
    },
    findFacts: (queries) => findFacts(database, queries),
    findBudgets: (queries) => findBudgets(database, queries),
    async findStatusCredential(url) {
      const rows = await database.read<{ credential: string; credentialHash: Sha256 }>({
        name: 'find_status_credential',
        text: statusCredentialSql,
        values: [url],
      });
      return rows[0] ?? null;
    },
    async findIdempotent(relyingParty, key) {
      const [found] = await database.read<{ bodyHash: string; receiptId: ReceiptId }>({
        name: 'find_idempotency_key',
        text: idempotencySql,
        values: [relyingParty, key],
      });
      if (found === undefined) return null;
      const { bodyHash, receiptId } = found;
      const [stored] = await database.read<{ jws: string }>({ text: receiptSql, values: [receiptId] });
      return stored === undefined
        ? null
        : { bodyHash, receipt: { receiptId, relyingParty, jws: stored.jws } };
    },
    commitDecisions: (decisions) => commitDecisions(commit, decisions),
    commitOnBudgets: (...request) => commitOnBudgets(options.commitOnBudgets, ...request),
    findStored: (receiptIds) => findStored(lookups.pool, receiptIds, lookups.deadlineMs),
    async confirmStored() {
      try {
        await commit.pool.run((client) => client.query(DURABLE), { deadlineMs: commit.deadlineMs });
      } catch (error) {
        throw toStoreError(error, 'nothing');
      }
    },
  };
}
