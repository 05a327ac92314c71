/** `svc-admin config check`: what a start would find wrong, before there is one. */
import { UsageError } from '@svc/cli/command-line';
import { assertSameStore } from '@svc/cold-ledger';
import {
  type Config,
  type Environment,
  loadSecrets,
  loadWorkerSecrets,
  type WorkerConfig,
} from '@svc/config';
import { openFenceStore } from '@svc/fence';
import { assertAnswers, openObjects } from '@svc/object-store';
import {
  ConfigurationError,
  OPERATOR_DEADLINES,
  readConfig,
  readRunnerConfig,
  readWorkerConfig,
} from '@svc/process';
import { type FenceHead, HEAD_KEY, messageOf, parseHead, StoreError } from '@svc/service';
import {
  checkConnections,
  checkReplica,
  checkServer,
  createStore,
  type Fleet,
  listServiceDids,
  readSchema,
  schemaFault,
} from '@svc/store-pg';
import type { Command } from './command.ts';

export const configCheckCommand: Command = {
  name: 'config check',
  gist: 'Says what a start would find wrong in the environment, its files, the database and the fence',
  options: {
    program: { value: 'NAME', text: 'api, worker or runner; api unless given' },
    offline: { text: 'without the database and the fence' },
  },
  notes: [
    'Each fault is named, and nothing is written. The exit code is 0 where it could start. A warning is of what a start goes on without.',
  ],
  run: async ({ program = 'api', offline }, env) => {
    const check = CHECKS[String(program)];
    if (check === undefined) throw new UsageError('--program is one of api, worker and runner');
    const faults: string[] = [];
    let isReached = true;
    for (const [what, work, isNeeded = true] of check(env, offline === true)) {
      if (!isReached && NEED_DATABASE.has(what)) {
        console.log(`-      ${what}: not looked at, for want of the database`);
        continue;
      }
      const { problem, isUnavailable } = await problemOf(work);
      if (what === DATABASE) isReached = !isUnavailable;
      const found = isNeeded ? 'FAULT ' : 'warning';
      console.log(problem === null ? `ok     ${what}` : `${found} ${what}:\n${indent(problem)}`);
      if (problem !== null && isNeeded) faults.push(problem);
      // Without a configuration there is nothing to look at.
      if (problem !== null && what === CONFIGURATION) break;
    }
    const kind = env.SVC_ENV === 'production' ? '' : ', as development: SVC_ENV is not production';
    console.log(faults.length === 0 ? `It can start${kind}.` : 'It would not start.');
    return faults.length === 0 ? 0 : 1;
  },
};

/** As far as this configuration tells. */
const smallestFleet = (config: Config | WorkerConfig): Fleet => {
  const processes = 'processes' in config ? config.processes : 1;
  const ofEach = processes === 1 ? '' : ` of ${processes} processes`;
  return { name: `two nodes${ofEach} and a worker`, processes: 2 * processes + 1 };
};

/** Without it they would tell the same fault once more. */
const DATABASE = 'database';
const NEED_DATABASE = new Set(['packed days', 'connections', 'fence']);

/** `isNeeded`: unless it is false nothing starts without. */
type Steps = Iterable<readonly [what: string, work: () => unknown, isNeeded?: boolean]>;

const CONFIGURATION = 'configuration';

const CHECKS: Readonly<Record<string, (env: Environment, isOffline: boolean) => Steps>> = {
  *api(env, isOffline) {
    yield [CONFIGURATION, () => readConfig(env)];
    const config = readConfig(env);
    yield* ofSecrets(config.env, () => loadSecrets(config));
    if (!isOffline) yield* ofService(config);
    const { databaseReadUrl } = config;
    if (!isOffline && databaseReadUrl !== null) yield ['replica', () => checkReplica(databaseReadUrl), false];
  },
  *worker(env, isOffline) {
    yield [CONFIGURATION, () => readWorkerConfig(env)];
    const config = readWorkerConfig(env);
    yield* ofSecrets(config.env, () => loadWorkerSecrets(config));
    if (!isOffline) yield* ofService(config);
  },
  *runner(env, isOffline) {
    yield [CONFIGURATION, () => readRunnerConfig(env)];
    const config = readRunnerConfig(env);
    if (!isOffline) yield ['database', () => checkDatabaseOf(config, config.databaseUrl)];
  },
};

/** In development a start makes what is missing, which this must not. */
function* ofSecrets(env: Config['env'], load: () => ReturnType<typeof loadWorkerSecrets>): Steps {
  if (env === 'production') yield ['keys', async () => (await load()).signers.close()];
}

function* ofService(config: Config | WorkerConfig): Steps {
  const { cold, database, fence, domain } = config;
  if (cold !== null) yield ['cold days', () => checkCold(cold), false];
  if (database.kind === 'external') yield [DATABASE, () => checkDatabaseOf(config, database.url)];
  if (cold !== null && database.kind === 'external')
    yield ['packed days', () => checkPacked(cold, database.url), false];
  if (database.kind === 'external' && config.env === 'production')
    yield ['connections', () => checkConnections(database.url, smallestFleet(config)), false];
  if (fence === null) return;
  const url = database.kind === 'external' ? database.url : null;
  yield ['fence', () => checkFence(`did:web:${domain}`, fence, url)];
}

const checkDatabaseOf = async (
  { env, domain }: Pick<Config, 'env' | 'domain'>,
  url: string,
): Promise<void> => {
  await checkServer(url, { mustBeDurable: env === 'production' });
  const schema = await readSchema(url);
  const fault = schemaFault(schema);
  if (fault !== null) throw fault;
  // A start as the owner migrates it.
  if (schema.state === 'never' || schema.state === 'behind') return;
  const did = (await listServiceDids(url)).at(-1)?.did ?? null;
  if (did !== null && did !== `did:web:${domain}`)
    throw new Error(
      `it is that of ${did}, and this configuration is of did:web:${domain}: set SVC_DOMAIN, or DATABASE_URL`,
    );
};

const checkCold = async ({ place, endpoint }: NonNullable<Config['cold']>): Promise<void> => {
  const { objects, close } = await openObjects(place, endpoint, { isCopy: true });
  try {
    await assertAnswers(objects);
  } catch (error) {
    throw new Error(`${place}: ${messageOf(error)}`);
  } finally {
    close();
  }
};

/** A start goes on with another store, and whatever is asked of cold days is 503. */
const checkPacked = async ({ place, endpoint }: NonNullable<Config['cold']>, databaseUrl: string) => {
  const { state } = await readSchema(databaseUrl);
  if (state === 'never' || state === 'behind') return;
  const { objects, close } = await openObjects(place, endpoint, { isCopy: true });
  const store = createStore({ databaseUrl, deadlines: OPERATOR_DEADLINES });
  try {
    await assertSameStore({ objects, store }, new AbortController().signal);
  } catch (error) {
    throw new Error(`${place}: ${messageOf(error)}`);
  } finally {
    close();
    await store.close();
  }
};

const checkFence = async (
  did: string,
  { place, endpoint }: { readonly place: string; readonly endpoint: string | null },
  databaseUrl: string | null,
): Promise<void> => {
  const { fenceStore, close } = await openFenceStore(place, endpoint);
  try {
    const found = await fenceStore.find(HEAD_KEY);
    const head = found === null ? null : parseHead(did, found.text);
    if (head !== null && 'problem' in head) throw new Error(head.problem);
    if (databaseUrl !== null) await holdAgainstFence(databaseUrl, head, place);
  } finally {
    close();
  }
};

/** What a start would wait for an operator over. */
const holdAgainstFence = async (
  databaseUrl: string,
  head: FenceHead | null,
  place: string,
): Promise<void> => {
  const { state } = await readSchema(databaseUrl);
  if (state === 'never' || state === 'behind') return;
  const store = createStore({ databaseUrl, deadlines: OPERATOR_DEADLINES });
  try {
    if (head === null && (await store.restores.findLast()).seq > 0)
      throw new Error(
        `the database had a fence, and there is none in ${place}: is it mounted? Set SVC_FENCE to where it lies, or begin it anew: svc-admin restore --lost-from if the database was restored, else svc-admin fence reset`,
      );
    if (head !== null && !(await store.restores.isKnownHead(head)))
      throw new Error('the database lacks what the fence names: it was set back, run svc-admin restore');
  } finally {
    await store.close();
  }
};

interface CheckOutcome {
  readonly problem: string | null;
  /** The database was not reached. */
  readonly isUnavailable: boolean;
}

const problemOf = async (work: () => unknown): Promise<CheckOutcome> => {
  try {
    await work();
    return { problem: null, isUnavailable: false };
  } catch (error) {
    const isUnavailable = error instanceof StoreError && error.kind === 'unavailable';
    const message = messageOf(error);
    const problem = error instanceof ConfigurationError ? message.replace(/^ +/gm, '') : message;
    return { problem, isUnavailable };
  }
};

const indent = (text: string): string => text.replace(/^/gm, '       ');
