/**
 * The proxies of `deploy/proxy` with their configuration there, in which only ports and certificate are replaced by the
 * test's.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { isDeep } from '@svc/testkit/sampled';

const FOLDER = new URL('../../../../deploy/proxy/', import.meta.url);
const START_DEADLINE_MS = 15_000;

export interface ProxyKind {
  readonly name: string;
  readonly program: string;
  /** File of the module that it loads. */
  readonly module?: string;
  readonly file: string;
  readonly parameters: (file: string) => string[];
}

export const PROXIES: readonly ProxyKind[] = [
  {
    name: 'HAProxy',
    program: '/usr/sbin/haproxy',
    file: 'haproxy.cfg',
    parameters: (file) => ['-db', '-f', file],
  },
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    module: '/usr/lib/nginx/modules/ngx_stream_module.so',
    file: 'nginx.conf',
    parameters: (file) => ['-c', file, '-g', 'daemon off;'],
  },
];

/** Whether the proxy is installed; otherwise prints what is skipped. */
export const isInstalled = ({ name, program, module = program }: ProxyKind): boolean => {
  const missing = [program, module].filter((file) => !existsSync(file));
  if (missing.length === 0) return true;
  console.warn(`${missing[0]} is not installed: what ${name} does with deploy/proxy is not tested`);
  return false;
};

export interface RunningProxy {
  readonly port: number;
  readonly certificate: string;
  /** Its standard output and standard error: HAProxy reports there which nodes it takes out. */
  log(): string;
  stop(): Promise<void>;
}

/** The file in `deploy/proxy`, unchanged. */
const configurationOf = ({ file }: ProxyKind): string => readFileSync(new URL(file, FOLDER), 'utf8');

/**
 * Starts a proxy in front of two nodes. The second port of each node is for health checks, which in a sample HAProxy
 * runs more often. Each key of `changed` must occur once in the configuration, and is replaced by its value.
 */
export const startProxy = async (
  kind: ProxyKind,
  nodes: readonly { readonly port: number; readonly adminPort: number }[],
  changed: readonly (readonly [from: string, to: string])[] = [],
): Promise<RunningProxy> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'));
  const port = await findFreePort();
  const [first, second] = nodes;
  const certificate = createCertificate(folder);
  const written = changed.reduce(replaceOnce, configurationOf(kind));
  const given = isDeep ? written : written.replace('check inter 1s', 'check inter 200ms');
  const addresses = {
    SVC_BIND: `127.0.0.1:${port}`,
    SVC_CERTIFICATE: join(folder, 'svc.pem'),
    SVC_API_1: `127.0.0.1:${first?.port}`,
    SVC_API_1_ADMIN_PORT: `${first?.adminPort}`,
    SVC_API_2: `127.0.0.1:${second?.port}`,
    SVC_API_2_ADMIN_PORT: `${second?.adminPort}`,
  };
  // nginx reads no environment variables, so the values are written into a copy.
  const text = [
    ['127.0.0.1:8443', addresses.SVC_BIND],
    ['127.0.0.1:8442', `127.0.0.1:${await findFreePort()}`],
    ['127.0.0.1:8080', addresses.SVC_API_1],
    ['127.0.0.1:8081', addresses.SVC_API_2],
    ['/etc/nginx/', `${folder}/`],
    ['/run/nginx.pid', `${folder}/nginx.pid`],
  ].reduce((config, [from = '', to = '']) => config.replaceAll(from, to), given);
  const file = join(folder, kind.file);
  writeFileSync(file, kind.name === 'nginx' ? text : given);
  const child = spawn(kind.program, kind.parameters(file), {
    env: { PATH: process.env.PATH ?? '', ...addresses },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), 2000);
    await ended;
    clearTimeout(kill);
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await isListening(port))) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    await stop();
    throw new Error(`${kind.name} did not start: ${log}`);
  }
  return { port, certificate, log: () => log, stop };
};

const replaceOnce = (config: string, [from, to]: readonly [string, string]): string => {
  if (config.split(from).length !== 2) throw new Error(`not once in the configuration: ${from}`);
  return config.replace(from, to);
};

const createCertificate = (folder: string): string => {
  const [key, certificate] = [join(folder, 'svc.key'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  // HAProxy reads certificate and key from one file; nginx reads its first certificate.
  const text = readFileSync(certificate, 'utf8');
  writeFileSync(join(folder, 'svc.pem'), text + readFileSync(key, 'utf8'));
  return text;
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    const settle = (is: boolean) => {
      socket.destroy();
      setTimeout(() => resolve(is), is ? 0 : 50);
    };
    socket.on('connect', () => settle(true)).on('error', () => settle(false));
  });

/** Connects over TLS from an address of this machine. */
export const connectSecurely = ({ port, certificate }: RunningProxy, localAddress?: string): TLSSocket => {
  const from =
    localAddress === undefined ? {} : { socket: connectTcp({ port, host: '127.0.0.1', localAddress }) };
  return connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate, ...from });
};

/** Sends one request as bytes, so that no client normalises its path; resolves with the status and the body. */
export const askRaw = (
  proxy: RunningProxy | { readonly port: number },
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
    localAddress,
  }: { method?: string; headers?: Record<string, string>; body?: string; localAddress?: string } = {},
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const socket =
      'certificate' in proxy ? connectSecurely(proxy, localAddress) : connectTcp(proxy.port, '127.0.0.1');
    const sent = {
      host: 'localhost',
      connection: 'close',
      'content-length': `${Buffer.byteLength(body)}`,
      ...headers,
    };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', ...rest] = text.split('\r\n\r\n');
      resolve({ status: Number(head.slice(9, 12)), body: rest.join('\r\n\r\n') });
    });
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  });
