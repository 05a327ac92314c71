/**
 * One PostgreSQL without a standby, on two disks of its own and with a share of a processor. The suite tests what the
 * service does while a resource is short, not the takeover. Needs root on Linux.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@svc/testkit/process/free-ports';
import type { QueryResultRow } from 'pg';
import type { Place } from '../harness/contestants.ts';
import { until } from './cluster.ts';
import { type Daemon, databaseUser, runAsDatabase, signal, startDaemon, treeOf } from './daemon.ts';
import type { Queryable } from './ledger.ts';
import { ownDatabase, runSql } from './sql.ts';

const BIN = '/usr/lib/postgresql/15/bin/';
const CPU = '/sys/fs/cgroup/cpu';
const PERIOD_US = 20_000;
const RESTART_MS = 1_000;
const SETTINGS = [
  // Fills the disk of the log soon: no old segment is used again.
  ...['wal_recycle=off', 'min_wal_size=4MB', 'max_connections=200'],
  ...['unix_socket_directories=', 'listen_addresses=127.0.0.1', 'logging_collector=off'],
];

/** A file system of its own, in a file or in memory. */
class Disk {
  readonly #filler: string;

  constructor(
    readonly folder: string,
    readonly megabytes: number,
    private readonly image: string | null,
  ) {
    this.#filler = join(folder, 'filler');
  }

  /** Mounts it in memory. */
  static mount(folder: string, megabytes: number): Disk {
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]);
    return new Disk(folder, megabytes, null);
  }

  /** Mounts ext4, which can turn read-only as it does when its device fails. */
  static mountImage(folder: string, megabytes: number): Disk {
    mkdirSync(folder);
    const image = `${folder}.image`;
    execFileSync('truncate', ['-s', `${megabytes}M`, image]);
    execFileSync('mkfs.ext4', ['-q', image]);
    execFileSync('mount', ['-o', 'loop', image, folder]);
    return new Disk(folder, megabytes, image);
  }

  fill(): void {
    // `dd` ends when the disk is full.
    spawnSync('dd', ['if=/dev/zero', `of=${this.#filler}`, 'bs=64k']);
  }

  /** Frees the space. */
  clear(): void {
    rmSync(this.#filler, { force: true });
  }

  turnReadOnly(): void {
    execFileSync('mount', ['-o', 'remount,abort', this.folder]);
  }

  /** Repairs the file system as an operator does; no process may have a file open there. */
  repair(): void {
    if (this.image === null) return;
    execFileSync('umount', [this.folder]);
    // Exit code 1: it found errors and corrected them.
    const { status } = spawnSync('e2fsck', ['-fy', this.image]);
    if ((status ?? 8) > 1) throw new Error(`e2fsck ended with ${status}`);
    execFileSync('mount', ['-o', 'loop', this.image, this.folder]);
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.folder]);
  }
}

export interface LoneServerOptions {
  readonly isReadOnlyTested?: boolean;
  /** Sizes of its two disks in MB. In memory they occupy only what is written. */
  readonly diskSizes?: { readonly data: number; readonly wal: number };
}

const SMALL_DISKS = { data: 512, wal: 256 };

/** A process that has ended meanwhile cannot be put into a group. */
const putInto = (group: string, pid: number): void => {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

export class LoneServer implements Queryable {
  #daemon: Daemon | null = null;
  #isSupervised = false;
  /** Number of restarts by the supervisor. */
  restarts = 0;
  readonly #group = `${CPU}/svc-ha-${process.pid}`;

  private constructor(
    private readonly place: Place,
    readonly port: number,
    readonly data: Disk,
    readonly wal: Disk,
  ) {}

  static async start(
    place: Place,
    { isReadOnlyTested = false, diskSizes = SMALL_DISKS }: LoneServerOptions = {},
  ): Promise<LoneServer> {
    const mount = (name: string, megabytes: number) => {
      const folder = join(place.folder, name);
      const disk = isReadOnlyTested ? Disk.mountImage(folder, megabytes) : Disk.mount(folder, megabytes);
      place.cleanup.add(() => disk.unmount());
      mkdirSync(join(folder, 'pg'), { mode: 0o700 });
      execFileSync('chown', [`${databaseUser.uid}:${databaseUser.gid}`, join(folder, 'pg')]);
      return disk;
    };
    const server = new LoneServer(
      place,
      await findFreePort(),
      mount('data-disk', diskSizes.data),
      mount('wal-disk', diskSizes.wal),
    );
    const wal = ['--waldir', join(server.wal.folder, 'pg'), '--wal-segsize', '1'];
    const kind = ['--auth', 'trust', '--username', 'postgres', '--data-checksums', '--encoding', 'UTF8'];
    runAsDatabase([`${BIN}initdb`, '--pgdata', server.#dataDir, ...wal, ...kind, '--locale', 'C']);
    place.cleanup.add(() => server.#end());
    await server.run();
    await runSql(ownDatabase(server.url), 'create database svc');
    return server;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/svc`;
  }

  get #dataDir(): string {
    return join(this.data.folder, 'pg');
  }

  get hasEnded(): boolean {
    return this.#daemon?.hasEnded() ?? true;
  }

  /** Starts the server as an operator does. */
  async run(): Promise<void> {
    const own = [`max_wal_size=${this.wal.megabytes / 4}MB`, `port=${this.port}`];
    const settings = [...SETTINGS, ...own].flatMap((one) => ['-c', one]);
    const logFile = join(this.place.folder, 'postgres.log');
    this.#daemon = startDaemon([`${BIN}postgres`, '-D', this.#dataDir, ...settings], { logFile });
    await until('PostgreSQL', async () => {
      if (this.hasEnded) throw new Error(`PostgreSQL has ended: ${logFile}`);
      return runSql(ownDatabase(this.url), 'select 1').catch(() => null);
    });
  }

  /**
   * Restarts the server from now on, a second after it ends, as often as it ends, as `Restart=always` or Patroni would.
   */
  supervise(): void {
    this.#isSupervised = true;
    const look = async () => {
      while (this.#isSupervised) {
        await delay(RESTART_MS);
        if (!this.#isSupervised || !this.hasEnded) continue;
        // Where the disk is still full the server ends again.
        await this.run().then(
          () => {
            this.restarts += 1;
          },
          () => {},
        );
      }
    };
    void look();
  }

  async stop(): Promise<void> {
    this.#daemon?.stop();
    await until('PostgreSQL ends', async () => this.hasEnded || null);
  }

  sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return runSql(this.url, text, values);
  }

  /** Throws where the host cannot limit a server to a share. */
  static assertCanHold(): void {
    if (existsSync(CPU)) return;
    throw new Error(
      `${CPU} is not there: the cpu controller of cgroup v1, which version 2 has in another way`,
    );
  }

  /** Limits the server, and every process that it starts, to this share of one processor. */
  hold(cpuPercent: number): void {
    mkdirSync(this.#group);
    writeFileSync(join(this.#group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(join(this.#group, 'cpu.cfs_quota_us'), String((PERIOD_US * cpuPercent) / 100));
    for (const one of treeOf(this.#daemon?.pid ?? 0)) putInto(this.#group, one);
  }

  async #end(): Promise<void> {
    this.#isSupervised = false;
    signal(treeOf(this.#daemon?.pid ?? 0).toReversed(), 'SIGKILL');
    await this.#daemon?.kill();
    if (!existsSync(this.#group)) return;
    await until('the group is empty', async () => {
      const left = readFileSync(join(this.#group, 'cgroup.procs'), 'utf8');
      return left === '' || null;
    });
    rmdirSync(this.#group);
  }
}
