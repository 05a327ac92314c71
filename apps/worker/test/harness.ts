/** Starts worker processes, and a deployment with hosted Principals that they maintain. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DidWeb, encodeUlid, type GrantId, type Sha256 } from '@svc/protocol';
import type { Store } from '@svc/service';
import { asService } from '@svc/testkit';
import { programFile } from '@svc/testkit/process/program-file';
import { type Program, startProgram } from '@svc/testkit/process/start-program';
import { afterAll, beforeAll } from 'vitest';

export type WorkerProcess = Program;

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly hosts: Readonly<Record<string, string>>;
  readonly parameters?: readonly string[];
  /** Folder of the service's keys; default: the folder of the test file. */
  readonly keysDir?: string;
  /** Added to the environment of every worker of the tests. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * One folder for all processes of a test file, as for its database, so that a kid of the service always names the same
 * key.
 */
let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-worker-test-'));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** The caller ends it. */
export const startWorker = ({
  databaseUrl,
  hosts,
  parameters = [],
  keysDir = dataDir,
  env = {},
}: WorkerOptions): WorkerProcess =>
  startProgram(
    programFile('apps/worker'),
    {
      DATABASE_URL: asService(databaseUrl),
      SVC_BASE_URL: 'http://svc.test',
      SVC_ADMIN_PORT: '0',
      SVC_DATA_DIR: keysDir,
      SVC_OUTBOUND_MAP: JSON.stringify(hosts),
      ...env,
    },
    parameters,
  );

const ROUNDS = 5;

/**
 * Runs a round of every job. If it fails, the error message contains the log. On a machine under load a worker can lose
 * connections; it then logs which domains it could not check, and leaves them to another round, which follows.
 */
export const runOnce = async (options: Omit<WorkerOptions, 'parameters'>): Promise<readonly string[]> => {
  const log: string[] = [];
  for (let round = 1; ; round++) {
    const worker = startWorker({ ...options, parameters: ['--once'] });
    const code = await worker.ended;
    log.push(...worker.log);
    if (code !== 0) throw new Error(`exit ${code}:\n${log.join('\n')}`);
    if (round === ROUNDS || !worker.log.some((line) => line.includes('"domain.not_checked"'))) return log;
  }
};

export interface Hosts {
  readonly url: string;
  /** Host names that were asked for a proof, in order. */
  readonly asked: readonly string[];
  /** Host names whose proof is served, with the DID and the token. */
  readonly proofs: Map<string, { readonly did: string; readonly token: string }>;
  /** Requests wait for it. */
  gate: Promise<void>;
  close(): Promise<void>;
}

/** All hosts in one server, distinguished by name. */
export const startHosts = async (): Promise<Hosts> => {
  const asked: string[] = [];
  const proofs: Hosts['proofs'] = new Map();
  const server = createServer(async (request, response) => {
    const name = request.headers.host ?? '';
    const isProof = request.url === '/.well-known/svc-verification.json';
    if (isProof) asked.push(name);
    await hosts.gate;
    const proof = isProof ? proofs.get(name) : undefined;
    response.writeHead(proof === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(proof ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const hosts: Hosts = {
    url: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    asked,
    proofs,
    gate: Promise.resolve(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return hosts;
};

/** A hosted Principal that was never checked. */
export const insertHosted = async (store: Store): Promise<{ did: DidWeb; name: string; token: string }> => {
  const name = `host-${randomBytes(5).toString('hex')}.example`;
  const did = `did:web:${name}` as DidWeb;
  const token = randomBytes(8).toString('hex');
  await store.principals.insert({
    did,
    kind: 'hosted',
    domain: name,
    slug: null,
    verificationState: 'unverified',
    verificationToken: token,
    orgId: null,
    mayBeNamed: false,
    keys: [],
    documentHash: null,
  });
  return { did, name, token };
};

/** Grants of a Principal, in a new status list. */
export const insertGrants = async (store: Store, principal: DidWeb, count: number): Promise<GrantId[]> => {
  const url = `https://status.example/${randomBytes(6).toString('hex')}/1`;
  const hash = `sha256:${createHash('sha256').update(url).digest('hex')}` as Sha256;
  await store.evidence.insert({ hash, contentType: 'application/vc+jwt', body: Buffer.from(url) });
  await store.statusLists.insert({
    url,
    principal,
    domain: principal.slice('did:web:'.length),
    number: 1,
    sizeBits: 131_072,
    permutationKey: randomBytes(32),
    bits: new Uint8Array(16_384),
    credential: url,
    credentialHash: hash,
    validFromMs: Date.now(),
  });
  const ids = Array.from(
    { length: count },
    () => `urn:svc:grant:${encodeUlid(Date.now(), randomBytes(10))}` as GrantId,
  );
  for (const [statusIndex, id] of ids.entries())
    await store.grants.insert({
      id,
      principal,
      agent: `did:key:z6Mk${randomBytes(20).toString('hex')}` as never,
      statusListUrl: url,
      statusIndex,
    });
  return ids;
};
