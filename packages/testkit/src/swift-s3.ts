/**
 * A real S3 server: OpenStack Swift with its s3api, on loopback, with its objects in a folder of the test. On Debian
 * install it with `apt-get install swift-proxy swift-account swift-container swift-object`. It does not support
 * conditional PUT: it answers 501.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePorts } from './process/free-ports.ts';

const PYTHON = '/usr/bin/python3';
const KINDS = ['account', 'container', 'object'] as const;
const START_DEADLINE_MS = 60_000;

const programOf = (kind: string): string => `/usr/bin/swift-${kind}-server`;

export const isSwiftInstalled = [...KINDS, 'proxy'].every((kind) => existsSync(programOf(kind)));

export interface SwiftS3 {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Rings of one device, built by Swift's own builder. Arguments: a folder, and the port of each kind of server. */
const RINGS = `
import sys
from swift.common.ring import RingBuilder
folder, *ports = sys.argv[1:]
for kind, port in zip(('account', 'container', 'object'), ports):
    builder = RingBuilder(2, 1, 0)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'disk', 'weight': 1})
    builder.rebalance()
    builder.get_ring().save('%s/%s.ring.gz' % (folder, kind))
`;

const configOf = (kind: string, folder: string, port: number): string => `
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}
mount_check = false
workers = 0
[pipeline:main]
pipeline = healthcheck ${kind}-server
[filter:healthcheck]
use = egg:swift#healthcheck
[app:${kind}-server]
use = egg:swift#${kind}
`;

const proxyConfig = (folder: string, port: number): string => `
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${userInfo().username}
swift_dir = ${folder}
workers = 0
[pipeline:main]
pipeline = catch_errors healthcheck cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
# Required, and not needed: nothing listens there, and what is not found in it is asked of the servers.
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
[filter:slo]
use = egg:swift#slo
[filter:tempauth]
use = egg:swift#tempauth
user_svc_test = secret .admin
`;

export const startSwiftS3 = async (): Promise<SwiftS3> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-swift-'));
  mkdirSync(join(folder, 'disk'));
  const [proxyPort = 0, ...ports] = await findFreePorts(1 + KINDS.length);
  execFileSync(PYTHON, ['-', folder, ...ports.map(String)], { input: RINGS });
  const output: string[] = [];
  const start = (kind: string, config: string): ChildProcess => {
    const path = join(folder, `${kind}.conf`);
    writeFileSync(path, config);
    const child = spawn(programOf(kind), [path, '--verbose'], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(`${chunk}`));
    return child;
  };
  const children = KINDS.map((kind, i) => start(kind, configOf(kind, folder, ports[i] ?? 0)));
  children.push(start('proxy', proxyConfig(folder, proxyPort)));
  const stop = async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = AbortSignal.timeout(START_DEADLINE_MS);
  while (!(await Promise.all([proxyPort, ...ports].map(isHealthy))).every(Boolean)) {
    if (deadline.aborted || children.some((child) => child.exitCode !== null)) {
      await stop();
      throw new Error(`Swift did not start:\n${output.join('')}`);
    }
    await pause(100);
  }
  return {
    endpoint: `http://127.0.0.1:${proxyPort}`,
    accessKeyId: 'svc:test',
    secretAccessKey: 'secret',
    stop,
  };
};

const isHealthy = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthcheck`).then(
    ({ ok }) => ok,
    () => false,
  );
