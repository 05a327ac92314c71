/**
 * The two phases of a revocation (protocol §9), one statement each. The first writes what was signed. The second takes
 * the Principal's exclusive lock, stamps under it, and commits.
 */
import type { GrantId } from '@svc/protocol';
import type { RevocationStore, Tenant } from '@svc/service';
import { pooledDatabase } from './database.ts';
import type { DeadlinePool } from './deadline-pool.ts';
import { toStoreError } from './errors.ts';
import { grantRepository } from './repositories/grants.ts';

/**
 * The first phase uses connections on which nothing waits for commits. The deadline of `barriers` is longer than the
 * lock's own time-out in `svc_stamp_revoked`, so that normally the server answers. A Principal's barriers run one after
 * another, so only one of them waits for the lock, on one connection.
 */
export function revocationStore(
  urgent: DeadlinePool,
  barriers: DeadlinePool,
  tenant: Tenant | null,
): RevocationStore {
  const instantOf = async (
    text: string,
    values: readonly unknown[],
    exclusiveKey: string,
  ): Promise<number> => {
    try {
      const { rows } = await barriers.run((client) => client.query<{ ms: number }>(text, [...values]), {
        tenant,
        exclusiveKey,
      });
      const [row] = rows;
      if (row === undefined) throw new Error('the barrier answered no row');
      return row.ms;
    } catch (error) {
      throw toStoreError(error, 'nothing');
    }
  };
  return {
    grants: grantRepository(pooledDatabase(urgent, urgent, tenant)),
    async stampRevoked(principal, ids, nowMs) {
      try {
        const { rows } = await barriers.run(
          (client) =>
            client.query<{ id: GrantId; revokedAtMs: number }>(
              `select grant_id as id, revoked_at as "revokedAtMs" from svc_stamp_revoked($1, $2, $3)`,
              [principal, [...ids], nowMs],
            ),
          { tenant, exclusiveKey: principal },
        );
        return new Map(rows.map(({ id, revokedAtMs }) => [id, revokedAtMs]));
      } catch (error) {
        throw toStoreError(error, 'stored');
      }
    },
    passBarrier: (principal, nowMs) =>
      instantOf('select svc_pass_barrier($1, $2) as ms', [principal, nowMs], principal),
    awaitCommits: (exclusiveKey, nowMs) =>
      instantOf('select svc_await_commits($1) as ms', [nowMs], exclusiveKey),
  };
}
