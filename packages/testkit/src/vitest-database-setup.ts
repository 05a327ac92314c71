// The database of vitest's global setup. It runs once for each project, always in vitest's main process: the first run
// starts the cluster and migrates the template, the last one to finish removes it.

import { dirname } from 'node:path';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '@svc/embedded-postgres';
import { grantService, migrate } from '@svc/store-pg';
import type { TestProject } from 'vitest/node';
import { copyCluster, makeClusterFolder, removeAbandonedClusters } from './cluster-folder.ts';
import { databaseUrl, execute, OWNER, SERVICE_ROLE, templateDatabase } from './database.ts';

interface RunCluster {
  readonly adminUrl: string;
  /** A cluster that is never started, with a migrated database `svc`; `startOwnCluster` copies it. */
  readonly ownClusterTemplate: string;
  remove(): Promise<void>;
}

interface SharedState {
  cluster: Promise<RunCluster> | null;
  users: number;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = sharedState();
  shared.users += 1;
  shared.cluster ??= startCluster();
  const { adminUrl, ownClusterTemplate, remove } = await shared.cluster;
  project.provide('databaseAdminUrl', adminUrl);
  project.provide('ownClusterTemplate', ownClusterTemplate);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    shared.cluster = null;
    await remove();
  };
}

/** Each project loads its own copy of this module, so shared state is a property of the global object. */
function sharedState(): SharedState {
  const process = globalThis as { [key: symbol]: SharedState | undefined };
  const key = Symbol.for('svc.test-cluster');
  const state = process[key] ?? { cluster: null, users: 0 };
  process[key] = state;
  return state;
}

async function startCluster(): Promise<RunCluster> {
  await removeAbandonedClusters();
  const folder = makeClusterFolder();
  let server = await startEmbeddedPostgres({ dataDir: folder, durable: false });
  const ownClusterTemplate = makeClusterFolder(dirname(server.dataDir));
  const remove = async () => {
    await server.stop({ deadlineMs: 0 });
    for (const place of [server.dataDir, folder, ownClusterTemplate]) await removeEmbeddedPostgres(place);
  };
  try {
    // Settings of this server and of those copied from it. Their logs may be in memory.
    await execute(server.url, `ALTER SYSTEM SET max_wal_size = '256MB'`);
    // Tests open thousands of connections: by default half of the CPU that one takes is for its password.
    await execute(server.url, 'ALTER SYSTEM SET scram_iterations = 1');
    await execute(server.url, 'SELECT pg_reload_conf()');
    await execute(server.url, `CREATE DATABASE ${templateDatabase}`);
    await migrate(databaseUrl(server.url, templateDatabase));
    const { password } = new URL(server.url);
    await execute(server.url, `ALTER ROLE ${OWNER} PASSWORD '${password}'`);
    await execute(server.url, `CREATE ROLE ${SERVICE_ROLE} LOGIN PASSWORD '${password}'`);
    await grantService(databaseUrl(server.url, templateDatabase), SERVICE_ROLE);
    await execute(server.url, `CREATE DATABASE svc TEMPLATE ${templateDatabase}`);
    await server.stop();
    copyCluster(server.dataDir, ownClusterTemplate);
    server = await startEmbeddedPostgres({ dataDir: server.dataDir, durable: false });
    await execute(server.url, 'DROP DATABASE svc');
    return { adminUrl: server.url, ownClusterTemplate, remove };
  } catch (problem) {
    await remove();
    throw problem;
  }
}
