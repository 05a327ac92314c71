/** A deployment in which every job of the worker has work. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSecrets } from '@svc/config';
import { createLogger, openService, readConfig } from '@svc/process';
import {
  type ApiKeyId,
  type DidWeb,
  encodeMultikey,
  encodeUlid,
  type GrantId,
  PROFILES,
  sha256Of,
  TRUST_CONFIG,
  trustConfigDocument,
} from '@svc/protocol';
import {
  insertStatusList,
  type PrincipalRecord,
  permuteIndex,
  type ServiceDeps,
  setStatusBits,
} from '@svc/service';
import { daysAgo, moveFirstDay, tamper } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import pg from 'pg';
import { insertHosted } from '../harness.ts';
import { insertSignedReceipts, type Ledger } from './signed-receipts.ts';
import type { HostAnswers } from './start-hosts.ts';

export interface Deployment {
  readonly databaseUrl: string;
  readonly keysDir: string;
}

/** Sizes of the days before today, the oldest first; one has tiles of its own. */
const DAY_SIZES = [4, 0, 300];
const OLD_DAY = '2018-03-04';

/** Resolves with the answers that the hosts of its Principals serve. Leaves no connection open. */
export const makeWorkForEveryJob = async ({ databaseUrl, keysDir }: Deployment): Promise<HostAnswers> => {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    SVC_BASE_URL: 'http://svc.test',
    SVC_DATA_DIR: keysDir,
  });
  const secrets = await loadSecrets(config);
  const logger = createLogger('warn');
  const { service, close } = await openService({ config, secrets, databaseUrl, logger });
  const sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  rotateStatusKey(keysDir);
  try {
    const answers = await makeDomainsDue(service, databaseUrl);
    await leaveRevocationsUnstamped(service, sql);
    await leaveDaysOpen(databaseUrl, await insertRelyingParty(service, sql));
    await leaveWhatHasServedItsTime(sql);
    await leaveConformanceRuns(sql);
    await leaveClaimsAndLooseEvidence(service, sql);
    const [lastPartition] = (
      await sql.query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'receipts'::regclass order by 1 desc`,
      )
    ).rows;
    await sql.query(`drop table ${lastPartition?.name}`);
    return answers;
  } finally {
    await sql.end();
    await close();
  }
};

const insertPrincipals = async (service: ServiceDeps, count: number): Promise<PrincipalRecord[]> => {
  const principals: PrincipalRecord[] = [];
  for (let i = 0; i < count; i++) {
    const { did } = await insertHosted(service.store);
    const principal = await service.store.principals.find(did);
    if (principal !== null) principals.push(principal);
  }
  return principals;
};

/**
 * What hosts of Principals serve, and who was verified before. Few in a sample: on a loaded machine a worker that begins
 * lacks connections for many at once, and leaves some to another round.
 */
const HOSTED = sampled({
  quick: ['document', 'proof', 'nothing any more'],
  deep: ['document', 'document', 'proof', 'nothing', 'nothing any more'],
});

const makeDomainsDue = async (service: ServiceDeps, databaseUrl: string): Promise<HostAnswers> => {
  const principals = await insertPrincipals(service, HOSTED.length);
  const answers: HostAnswers = {};
  for (const [i, { did, domain, verificationToken: token }] of principals.entries())
    answers[domain] = {
      ...(HOSTED[i]?.startsWith('nothing')
        ? {}
        : { '/.well-known/svc-verification.json': JSON.stringify({ did, token }) }),
      ...(HOSTED[i] === 'document' ? { '/.well-known/did.json': documentOf(did) } : {}),
    };
  await tamper(
    databaseUrl,
    `update principals set verification_state = 'verified', verified_since = now() - interval '9 days',
       last_checked_at = now() - interval '2 days', last_proven_at = now() - interval '2 days' where did = $1`,
    [principals[HOSTED.indexOf('nothing any more')]?.did],
  );
  return answers;
};

const documentOf = (did: string): string => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const method = {
    id: `${did}#key-1`,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase: encodeMultikey(raw),
  };
  return JSON.stringify({
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    ...{ id: did, verificationMethod: [method], assertionMethod: [method.id] },
  });
};

/** Two Principals have Grants in signed lists, of which some are revoked and not stamped; a third has only a list. */
const leaveRevocationsUnstamped = async (service: ServiceDeps, sql: pg.Client): Promise<void> => {
  for (const principal of await insertPrincipals(service, 3)) {
    const ids = await service.store.transaction(async (tx) => {
      await insertStatusList(service, tx, principal);
      const granted: GrantId[] = [];
      const entries: number[] = [];
      for (let i = 0; i < 3; i++) {
        const taken = await tx.statusLists.takeOrdinal(principal.did);
        const id = `urn:svc:grant:${encodeUlid(Date.now(), randomBytes(10))}` as GrantId;
        const grant = { id, principal: principal.did, agent: `did:key:z6Mk${id.slice(-20)}` as never };
        if (taken === null) throw new Error('no entry');
        const statusIndex = permuteIndex(taken.permutationKey, taken.sizeBits, taken.ordinal);
        await tx.grants.insert({ ...grant, statusListUrl: taken.url, statusIndex });
        granted.push(id);
        entries.push(statusIndex);
      }
      const list = await tx.statusLists.findForUpdate(
        `${service.identity.statusBaseUrl}/${principal.domain}/1`,
      );
      if (list === null) throw new Error('no list');
      await setStatusBits(service, tx, list, entries.slice(0, 2));
      await tx.grants.recordRevocation(granted.slice(0, 2));
      return granted;
    });
    const long = `update grants set revocation_recorded_at = now() - interval '1 minute' where id = any ($1)`;
    await sql.query(long, [ids.slice(0, 2)]);
  }
  // Checked a moment ago, so that another job has no work on them.
  await sql.query(
    `update principals set last_checked_at = now() where did in (select principal from grants)`,
  );
};

/** Two claims that have expired; and evidence that was unused for hours. */
const leaveClaimsAndLooseEvidence = async (service: ServiceDeps, sql: pg.Client): Promise<void> => {
  const orgId = `org_${encodeUlid(Date.now(), randomBytes(10))}`;
  await sql.query(`insert into orgs (org_id, slug, name) values ($1, 'claimants', 'An org')`, [orgId]);
  const [claimed] = await insertPrincipals(service, 1);
  if (claimed === undefined) throw new Error('no Principal');
  await sql.query(
    `update principals set org_id = $2, claim_expires_at = now() - interval '1 hour', verification_state = 'unverified',
       last_checked_at = now(), last_proven_at = null where did = $1`,
    [claimed.did, orgId],
  );
  await sql.query(
    `insert into relying_parties (did, kind, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id,
       claim_expires_at, verification_token)
     values ('did:web:claimed.example', 'hosted', 'Claimed', 60, 600, 'svc-base-v1', $1, now() - interval '1 hour', 't')`,
    [orgId],
  );
  for (let i = 0; i < 3; i++) {
    const body = Buffer.from(`loose ${i}`);
    const hash = sha256Of(service.crypto, `loose ${i}`);
    await service.store.evidence.insertLoose({ hash, contentType: 'application/did+json', body });
  }
  await sql.query(`update loose_evidence set unused_since = now() - interval '3 hours'
    where hash not in (select credential_hash from status_lists)
      and hash not in (select document_hash from principals where document_hash is not null)`);
};

const insertRelyingParty = async (service: ServiceDeps, sql: pg.Client): Promise<Ledger> => {
  const did = 'did:web:shop.example' as DidWeb;
  const keyId = 'aaaaaaaaaaaa' as ApiKeyId;
  await service.store.relyingParties.insert({
    ...{ did, kind: 'hosted', slug: null, name: 'Shop', orgId: null, profile: 'svc-base-v1' },
    ...{ proofWindowSeconds: 120, verifyRateLimitPerMinute: 600 },
  });
  for (const document of [PROFILES['svc-base-v1'].document, trustConfigDocument(TRUST_CONFIG)])
    await service.store.evidence.insert({
      hash: sha256Of(service.crypto, document),
      contentType: 'application/json',
      body: Buffer.from(document, 'utf8'),
    });
  const keyHash = randomBytes(32).toString('hex');
  await service.store.apiKeys.insert({ keyHash, keyId, role: 'rp', subject: did, label: null });
  return { sql, keyId, relyingParty: did, signer: service.identity.receiptKeys.signer };
};

const leaveDaysOpen = async (databaseUrl: string, ledger: Ledger): Promise<void> => {
  await moveFirstDay(databaseUrl, daysAgo(DAY_SIZES.length));
  for (const [i, size] of DAY_SIZES.entries())
    await insertSignedReceipts(ledger, daysAgo(DAY_SIZES.length - i), size);
  await insertSignedReceipts(ledger, OLD_DAY, 5, true);
};

const leaveWhatHasServedItsTime = async (sql: pg.Client): Promise<void> => {
  await sql.query(
    `insert into spent_proofs (grant_id, jti, expires_at)
     select 'g', 'old-' || n, now() - interval '2 hours' from generate_series(1, 40) as n
     union all select grant_id, 'live-' || min(receipt_id), now() + interval '1 day' from receipts
     where decision = 'ALLOW' group by grant_id`,
  );
  await sql.query(
    `insert into idempotency_keys (relying_party, key, body_hash, receipt_id, created_at)
     select 'rp', 'old-' || n, 'h', 'drc', now() - interval '2 hours' from generate_series(1, 40) as n
     union all select 'rp', 'live', 'h', min(receipt_id), now() from receipts`,
  );
};

/** A run whose runner is gone, a run that no runner took, and 150 expired runs: more than one step removes. */
const leaveConformanceRuns = async (sql: pg.Client): Promise<void> => {
  await sql.query(
    `insert into conformance_runs (run_id, account, key_id, endpoint, status, created_at, finished_at, lease, leased_until,
       vectors_sha256, conformance_version)
     select 'run-' || n, 'rp ' || n, 'aaaaaaaaaaaa', 'https://shop.example/', 'running', now() - interval '1 hour', null,
       case n when 1 then 'lease' end, case n when 1 then now() - interval '1 minute' end, 'sha256:0', '1'
       from generate_series(1, 2) as n
     union all select 'old-' || n, 'rp', 'aaaaaaaaaaaa', 'https://shop.example/', 'passed', now() - interval '31 days',
       now() - interval '31 days', null, null, 'sha256:0', '1' from generate_series(1, 150) as n`,
  );
};

/** A new key signs from now on; the former key stays published. */
const rotateStatusKey = (keysDir: string): void => {
  const file = join(keysDir, 'status-keys.json');
  const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys: object[] };
  const { privateKey } = generateKeyPairSync('ed25519');
  const next = { ...privateKey.export({ format: 'jwk' }), kid: 'status-2' };
  writeFileSync(file, JSON.stringify({ keys: [next, ...keys] }));
};
