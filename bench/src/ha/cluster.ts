/**
 * The reference deployment of `deploy/ha/` on one host: three etcd members, two machines of Patroni and PostgreSQL, HAProxy.
 * Each machine reaches the other, and etcd, over links of its own, so that it can be cut off.
 */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@svc/testkit/process/free-ports';
import type { QueryResultRow } from 'pg';
import type { Place } from '../harness/contestants.ts';
import { type Daemon, databaseUser, signal, startDaemon, treeOf } from './daemon.ts';
import { Link } from './link.ts';
import { PATRONI } from './patroni.ts';
import { ownDatabase, runSql } from './sql.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/ha/', import.meta.url));
const ETCD_MEMBERS = 3;
const START_MS = 180_000;
const POLL_MS = 100;
/**
 * Replaces systemd in each machine: it reaps an orphan as soon as it ends. PID 1 of a container may take seconds. Until
 * then Patroni counts a postmaster that has ended as one that runs, which made a switchover 1.1 s longer.
 */
const TINI = '/usr/bin/tini';
const INIT = existsSync(TINI) ? [TINI, '-s', '--'] : [];
/** The name in `patroni.yaml`. */
const REST_USER = 'patroni';
const UNAUTHORIZED = 401;

/** A database machine: Patroni with its PostgreSQL. */
export interface Machine {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly dataDir: string;
  /** Links to its PostgreSQL and its Patroni, for the other machine. */
  readonly incoming: readonly Link[];
  /** Links from this machine to etcd. */
  readonly toEtcd: readonly Link[];
  readonly patroni: Daemon;
}

export interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

export class Cluster {
  readonly machines: Machine[] = [];
  readonly etcd: Daemon[] = [];
  /** The port of HAProxy. */
  proxyPort = 0;
  readonly #passwords = {
    superuser: randomBytes(12).toString('hex'),
    replication: randomBytes(12).toString('hex'),
    rewind: randomBytes(12).toString('hex'),
    restApi: randomBytes(12).toString('hex'),
  };
  readonly #etcdStarts: (() => Daemon)[] = [];
  #etcdPorts: number[] = [];

  private constructor(private readonly place: Place) {}

  static async start(place: Place): Promise<Cluster> {
    const cluster = new Cluster(place);
    place.cleanup.add(() => cluster.#end());
    await cluster.#startEtcd();
    for (const name of ['db-1', 'db-2']) await cluster.#startMachine(name);
    await cluster.#startProxy();
    await cluster.untilHealthy();
    await cluster.#assertClosed();
    await cluster.#makeDatabase('create database svc');
    return cluster;
  }

  /** Drops the database and creates an empty one in its place. */
  async remakeDatabase(): Promise<void> {
    await this.#makeDatabase('drop database svc with (force)');
    await this.#makeDatabase('create database svc');
  }

  async #makeDatabase(text: string): Promise<void> {
    await runSql(ownDatabase(this.urlOf((await this.primary()).port)), text);
  }

  /** The service's database URL, as the superuser: the suite tests servers, not permissions. */
  urlOf(...ports: readonly number[]): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgres://postgres:${this.#passwords.superuser}@${hosts}/svc`;
  }

  /** Runs a statement on the primary, about the ledger or the server. */
  async sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return runSql(this.urlOf((await this.primary()).port), text, values);
  }

  /** The members, as the first Patroni that answers lists them. */
  async members(): Promise<readonly Member[]> {
    for (const { restPort } of this.machines) {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
        signal: AbortSignal.timeout(1_000),
      }).catch(() => null);
      if (answer?.ok === true) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }

  /** The machine whose Patroni says that it is primary. Waits until there is one. */
  async primary(among: readonly Machine[] = this.machines): Promise<Machine> {
    return until('a primary', async () => {
      for (const machine of among) if (await is(machine, 'primary')) return machine;
      return null;
    });
  }

  other(machine: Machine): Machine {
    return this.machines.find((one) => one !== machine) as Machine;
  }

  /** Waits until there is a primary and the other machine is its synchronous standby. */
  async untilHealthy(): Promise<void> {
    await until('a primary with a synchronous standby', async () => {
      for (const machine of this.machines)
        if (await is(machine, 'primary')) return (await is(this.other(machine), 'synchronous')) || null;
      return null;
    });
  }

  /** Ends every session except this suite's own. Their clients see a reset connection. */
  async endSessions(): Promise<void> {
    await this.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'svc' and pid <> pg_backend_pid()",
    );
  }

  async switchover(): Promise<void> {
    const leader = await this.primary();
    const credentials = Buffer.from(`${REST_USER}:${this.#passwords.restApi}`).toString('base64');
    const { status } = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: JSON.stringify({ leader: leader.name, candidate: this.other(leader).name }),
    });
    if (status === UNAUTHORIZED) throw new Error('Patroni does not take the password of its REST API');
  }

  /** Throws where a Patroni lets any caller change its configuration. */
  async #assertClosed(): Promise<void> {
    for (const { name, restPort } of this.machines) {
      const { status } = await fetch(`http://127.0.0.1:${restPort}/config`, { method: 'PATCH', body: '{}' });
      if (status !== UNAUTHORIZED) throw new Error(`Patroni of ${name} answers PATCH /config with ${status}`);
    }
  }

  postmasterOf({ dataDir }: Machine): number {
    return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  }

  /** Stops every process of the machine at this moment. `wake` lets them continue. */
  freeze(machine: Machine): { wake(patroniLagMs: number): Promise<void> } {
    const patroni = treeOf(machine.patroni.pid);
    const postmaster = this.postmasterOf(machine);
    // The postmaster is stopped first: a process that it starts afterwards would be missed.
    signal([...patroni, postmaster], 'SIGSTOP');
    const database = treeOf(postmaster);
    signal(database, 'SIGSTOP');
    return {
      async wake(patroniLagMs) {
        signal(database.toReversed(), 'SIGCONT');
        await delay(patroniLagMs);
        signal(patroni, 'SIGCONT');
      },
    };
  }

  /**
   * Cuts a machine off from the other one and from etcd, or connects it again. The service can reach it all the time.
   */
  isolate(machine: Machine, isCut: boolean): void {
    const links = [...machine.toEtcd, ...this.machines.flatMap(({ incoming }) => incoming)];
    for (const link of links) link.set(isCut ? 'silent' : 'whole');
  }

  async killEtcd(): Promise<void> {
    await Promise.all(this.etcd.map((member) => member.kill()));
  }

  restartEtcd(): void {
    this.etcd.splice(0, this.etcd.length, ...this.#etcdStarts.map((start) => start()));
  }

  async #startEtcd(): Promise<void> {
    const members = [];
    for (let i = 1; i <= ETCD_MEMBERS; i++)
      members.push({ name: `etcd-${i}`, client: await findFreePort(), peer: await findFreePort() });
    const initialCluster = members.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(',');
    for (const { name, client, peer } of members) {
      const dataDir = this.#folder(name);
      const command = ['etcd', '--name', name, '--data-dir', dataDir, '--initial-cluster', initialCluster];
      for (const [kind, port] of [
        ['client', client],
        ['peer', peer],
      ] as const) {
        const url = `http://127.0.0.1:${port}`;
        const advertised = kind === 'client' ? '--advertise-client-urls' : '--initial-advertise-peer-urls';
        command.push(`--listen-${kind}-urls`, url, advertised, url);
      }
      this.#etcdStarts.push(() => startDaemon(command, { logFile: this.#logOf(name) }));
    }
    this.restartEtcd();
    this.#etcdPorts = members.map(({ client }) => client);
    // Patroni does not start beside etcd members that have not found each other.
    for (const port of this.#etcdPorts)
      await until('etcd', async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/version`).catch(() => null);
        const { etcdcluster = 'not_decided' } = ((await answer?.json()) ?? {}) as { etcdcluster?: string };
        return etcdcluster !== 'not_decided' || null;
      });
  }

  async #startMachine(name: string): Promise<void> {
    const port = await findFreePort();
    const restPort = await findFreePort();
    const incoming = [await Link.open(port), await Link.open(restPort)];
    const toEtcd = await Promise.all(this.#etcdPorts.map((one) => Link.open(one)));
    const folder = this.#folder(name);
    const dataDir = join(folder, 'data');
    const { superuser, replication, rewind, restApi } = this.#passwords;
    const environment = {
      PATRONI_NAME: name,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${restPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${incoming[1]?.port}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${incoming[0]?.port}`,
      PATRONI_POSTGRESQL_DATA_DIR: dataDir,
      PATRONI_POSTGRESQL_PGPASS: join(folder, 'pgpass'),
      PATRONI_ETCD3_HOSTS: toEtcd.map((link) => `127.0.0.1:${link.port}`).join(','),
      // The addresses that etcd itself names would bypass the links.
      PATRONI_ETCD3_USE_PROXIES: 'true',
      PATRONI_SUPERUSER_PASSWORD: superuser,
      PATRONI_REPLICATION_PASSWORD: replication,
      PATRONI_REWIND_PASSWORD: rewind,
      PATRONI_RESTAPI_PASSWORD: restApi,
    };
    const command = [...INIT, PATRONI, join(CONFIGURATION, 'patroni.yaml')];
    const patroni = startDaemon(command, { logFile: this.#logOf(name), environment });
    this.machines.push({ name, port, restPort, dataDir, incoming, toEtcd, patroni });
  }

  async #startProxy(): Promise<void> {
    this.proxyPort = await findFreePort();
    const environment: Record<string, string> = { SVC_DATABASE_BIND: `127.0.0.1:${this.proxyPort}` };
    for (const [i, { port, restPort }] of this.machines.entries()) {
      environment[`SVC_DATABASE_${i + 1}`] = `127.0.0.1:${port}`;
      environment[`SVC_DATABASE_${i + 1}_PATRONI_PORT`] = String(restPort);
    }
    const command = ['/usr/sbin/haproxy', '-db', '-f', join(CONFIGURATION, 'haproxy.cfg')];
    const proxy = startDaemon(command, { logFile: this.#logOf('haproxy'), environment });
    this.place.cleanup.add(() => proxy.kill());
  }

  #folder(name: string): string {
    const folder = join(this.place.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, databaseUser.uid, databaseUser.gid);
    return folder;
  }

  #logOf(name: string): string {
    return join(this.place.folder, `${name}.log`);
  }

  /** Kills everything, since no state of the run needs an orderly end. */
  async #end(): Promise<void> {
    for (const machine of this.machines) {
      const tree = treeOf(machine.patroni.pid);
      await machine.patroni.kill();
      signal(tree, 'SIGKILL');
      try {
        signal(treeOf(this.postmasterOf(machine)), 'SIGKILL');
      } catch {
        // It does not run.
      }
      for (const link of [...machine.incoming, ...machine.toEtcd]) link.close();
    }
    await this.killEtcd();
  }
}

/** Whether Patroni's health check confirms the role: `primary`, `replica`, `synchronous`. */
export async function is({ restPort }: Machine, role: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${restPort}/${role}`, {
    method: 'OPTIONS',
    signal: AbortSignal.timeout(1_000),
  }).catch(() => null);
  return answer?.status === 200;
}

/** Throws when it takes longer than any step of the suite may. */
export async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const endsAt = performance.now() + START_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > endsAt) throw new Error(`${what} was not had within ${START_MS / 1000} s`);
    await delay(POLL_MS);
  }
}
