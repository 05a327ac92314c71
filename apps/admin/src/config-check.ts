/** `svc-admin config check`: finds the faults that a start would find, without a start. */
import { UsageError } from '@svc/cli/command-line';
import { assertSameStore } from '@svc/cold-ledger';
import {
  type Config,
  type Environment,
  loadSecrets,
  loadWorkerSecrets,
  type WorkerConfig,
} from '@svc/config';
import { MayNotWrite, openFenceStore } from '@svc/fence';
import { assertAnswers, openObjects } from '@svc/object-store';
import {
  ConfigurationError,
  OPERATOR_DEADLINES,
  readConfig,
  readRunnerConfig,
  readWorkerConfig,
  refuseWithoutCold,
  refuseWithoutFence,
} from '@svc/process';
import {
  type FenceHead,
  HEAD_KEY,
  messageOf,
  parseHead,
  type ServiceKeySets,
  type Store,
  StoreError,
} from '@svc/service';
import {
  checkConnections,
  checkMigrations,
  checkReplica,
  checkServer,
  createStore,
  type Fleet,
  listServiceDids,
  readSchema,
  schemaFault,
} from '@svc/store-pg';
import type { Command } from './command.ts';
import { findKeyFault } from './key-place.ts';

export const configCheckCommand: Command = {
  name: 'config check',
  gist: 'Reports the faults that a start would find in the environment, its files, the database and the fence',
  options: {
    program: { value: 'NAME', text: 'api, worker or runner; default: api' },
    offline: { text: 'does not check the database and the fence' },
  },
  notes: [
    'It names each fault, and writes nothing but the object probe into a bucket of the fence that has none yet. The exit code is 0 if the program could start. A warning names a fault that does not prevent a start.',
  ],
  run: async ({ program = 'api', offline }, env) => {
    const check = CHECKS[String(program)];
    if (check === undefined) throw new UsageError('--program is one of api, worker and runner');
    const faults: string[] = [];
    let isReached = true;
    for (const [what, work, isNeeded = true] of check(env, offline === true)) {
      if (!isReached && NEED_DATABASE.has(what)) {
        console.log(`-      ${what}: not checked, since the database was not reached`);
        continue;
      }
      const { problem, isUnavailable, unchecked } = await problemOf(work);
      if (what === DATABASE) isReached = !isUnavailable;
      if (unchecked !== null) {
        console.log(`-      ${what}: ${unchecked}`);
        continue;
      }
      const found = isNeeded ? 'FAULT ' : 'warning';
      console.log(problem === null ? `ok     ${what}` : `${found} ${what}:\n${indent(problem)}`);
      if (problem !== null && isNeeded) faults.push(problem);
      // Without a configuration no further step can be checked.
      if (problem !== null && what === CONFIGURATION) break;
    }
    const kind = env.SVC_ENV === 'production' ? '' : ' in development mode: SVC_ENV is not production';
    console.log(faults.length === 0 ? `It can start${kind}.` : 'It would not start.');
    return faults.length === 0 ? 0 : 1;
  },
};

/** The fleet that this configuration describes, at its smallest. */
const smallestFleet = (config: Config | WorkerConfig): Fleet => {
  const processes = 'processes' in config ? config.processes : 1;
  const ofEach = processes === 1 ? '' : ` of ${processes} processes`;
  return { name: `two nodes${ofEach} and a worker`, processes: 2 * processes + 1 };
};

/** If this step fails, the steps that need the database would report the same fault again. */
const DATABASE = 'database';
const NEED_DATABASE = new Set(['published keys', 'packed days', 'connections', 'fence']);

/** `isNeeded`: unless it is false, no process starts if the step fails. */
type Step = readonly [what: string, work: () => unknown, isNeeded?: boolean];
type Steps = Iterable<Step>;

const CONFIGURATION = 'configuration';

const CHECKS: Readonly<Record<string, (env: Environment, isOffline: boolean) => Steps>> = {
  *api(env, isOffline) {
    yield [CONFIGURATION, () => readConfig(env)];
    const config = readConfig(env);
    const keys = yield* ofSecrets(config.env, () => loadSecrets(config));
    if (!isOffline) yield* ofService(config, keys);
    const { databaseReadUrl } = config;
    if (!isOffline && databaseReadUrl !== null) yield ['replica', () => checkReplica(databaseReadUrl), false];
  },
  *worker(env, isOffline) {
    yield [CONFIGURATION, () => readWorkerConfig(env)];
    const config = readWorkerConfig(env);
    const keys = yield* ofSecrets(config.env, () => loadWorkerSecrets(config));
    if (!isOffline) yield* ofService(config, keys);
  },
  *runner(env, isOffline) {
    yield [CONFIGURATION, () => readRunnerConfig(env)];
    const config = readRunnerConfig(env);
    if (!isOffline) yield ['database', () => checkDatabaseOf(config, config.databaseUrl)];
  },
};

/**
 * The secrets are opened once, since a token counts each wrong PIN. In development a start makes missing secrets; this
 * check must not.
 */
function* ofSecrets(
  env: Config['env'],
  load: () => ReturnType<typeof loadWorkerSecrets>,
): Generator<Step, ServiceKeySets | null> {
  const opened: ServiceKeySets[] = [];
  const open = async () => {
    const secrets = await load();
    opened.push(secrets);
    await secrets.signers.close();
  };
  if (env === 'production') yield ['keys', open];
  return opened[0] ?? null;
}

/** `keys`: null if they were not opened. */
function* ofService(config: Config | WorkerConfig, keys: ServiceKeySets | null): Steps {
  const { cold, database, fence, domain } = config;
  if (cold !== null) yield ['cold days', () => checkCold(cold), false];
  if (database.kind === 'external') yield* ofDatabase(config, keys, database.url);
  if (fence === null) return;
  const url = database.kind === 'external' ? database.url : null;
  yield ['fence', () => checkFence(`did:web:${domain}`, fence, url)];
  if (fence.place.startsWith('s3:')) yield ["writes to the fence's bucket", () => checkWrites(fence)];
}

function* ofDatabase(config: Config | WorkerConfig, keys: ServiceKeySets | null, url: string): Steps {
  const { cold, fence } = config;
  yield [DATABASE, () => checkDatabaseOf(config, url)];
  if (keys !== null) yield ['published keys', () => holdAgainstPublished(keys, url)];
  if (cold !== null) yield ['packed days', () => checkPacked(cold, url), false];
  else yield ['packed days', () => withStoreOf(url, refuseWithoutCold)];
  if (config.env === 'production')
    yield ['connections', () => checkConnections(url, smallestFleet(config)), false];
  if (fence === null) yield ['fence', () => withStoreOf(url, refuseWithoutFence)];
}

/** Why a step could not be checked, which is no fault. */
class NotChecked extends Error {}

/** Rejects with `NotChecked` if a start would migrate the database first. */
const withStoreOf = async (databaseUrl: string, work: (store: Store) => Promise<void>): Promise<void> => {
  const { state } = await readSchema(databaseUrl);
  if (state === 'never' || state === 'behind')
    throw new NotChecked('not compared with the database, which is not migrated yet');
  const store = createStore({ databaseUrl, deadlines: OPERATOR_DEADLINES });
  try {
    await work(store);
  } finally {
    await store.close();
  }
};

const holdAgainstPublished = (
  { receiptKeys, statusKeys }: ServiceKeySets,
  databaseUrl: string,
): Promise<void> =>
  withStoreOf(databaseUrl, async ({ serviceKeys }) => {
    const stored = new Map((await serviceKeys.list()).map((key) => [key.kid, key]));
    const faults = [receiptKeys, statusKeys].flatMap(({ signer, published }) =>
      published.flatMap((key) => {
        const fault = findKeyFault(stored.get(key.kid), key, key.kid === signer.kid);
        return fault === null ? [] : [`${key.kid}: ${fault}`];
      }),
    );
    if (faults.length > 0) throw new ConfigurationError(faults);
  });

const checkDatabaseOf = async (
  { env, domain }: Pick<Config, 'env' | 'domain'>,
  url: string,
): Promise<void> => {
  await checkServer(url, { mustBeDurable: env === 'production' });
  await checkMigrations(url);
  const schema = await readSchema(url);
  const fault = schemaFault(schema);
  if (fault !== null) throw fault;
  // A start as the owner migrates it.
  if (schema.state === 'never' || schema.state === 'behind') return;
  const did = (await listServiceDids(url)).at(-1)?.did ?? null;
  if (did !== null && did !== `did:web:${domain}`)
    throw new Error(
      `it belongs to ${did}, and this configuration is for did:web:${domain}: correct SVC_DOMAIN or DATABASE_URL`,
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

/** A start goes on even with another store, and every request about cold days then answers 503. */
const checkPacked = ({ place, endpoint }: NonNullable<Config['cold']>, databaseUrl: string): Promise<void> =>
  withStoreOf(databaseUrl, async (store) => {
    const { objects, close } = await openObjects(place, endpoint, { isCopy: true });
    try {
      await assertSameStore({ objects, store }, new AbortController().signal);
    } catch (error) {
      throw new Error(`${place}: ${messageOf(error)}`);
    } finally {
      close();
    }
  });

type FencePlace = Pick<NonNullable<Config['fence']>, 'place' | 'endpoint'>;

const checkFence = async (
  did: string,
  { place, endpoint }: FencePlace,
  databaseUrl: string | null,
): Promise<void> => {
  const { fenceStore, close } = await openFenceStore(place, endpoint);
  try {
    const found = await fenceStore.find(HEAD_KEY);
    const head = found === null ? null : parseHead(did, found.text);
    if (head !== null && 'problem' in head)
      throw new Error(
        `${head.problem}; if the service has changed its DID, stop every process and run svc-admin fence reset`,
      );
    if (databaseUrl !== null) await holdAgainstFence(databaseUrl, head, place);
  } finally {
    close();
  }
};

const checkWrites = async ({ place, endpoint }: FencePlace): Promise<void> => {
  const { assertConditional, close } = await openFenceStore(place, endpoint);
  try {
    await assertConditional();
  } catch (error) {
    if (error instanceof MayNotWrite) throw new NotChecked(`not checked: ${error.message}`);
    throw error;
  } finally {
    close();
  }
};

/** Rejects if a start would wait for an operator. */
const holdAgainstFence = (databaseUrl: string, head: FenceHead | null, place: string): Promise<void> =>
  withStoreOf(databaseUrl, async ({ restores }) => {
    if (head === null && (await restores.findLast()).seq > 0)
      throw new Error(
        `the database had a fence, and there is none in ${place}. Check that the place is mounted, or set SVC_FENCE to the place of the fence. If the fence is lost: svc-admin restore --lost-from if the database was restored, else svc-admin fence reset`,
      );
    if (head !== null && !(await restores.isKnownHead(head)))
      throw new Error(
        'the database lacks the beat that the fence names, so it was set back to an earlier moment: run svc-admin restore',
      );
  });

interface CheckOutcome {
  readonly problem: string | null;
  /** True: the database was not reached. */
  readonly isUnavailable: boolean;
  /** Why the step could not be checked, or null. */
  readonly unchecked: string | null;
}

const problemOf = async (work: () => unknown): Promise<CheckOutcome> => {
  try {
    await work();
    return { problem: null, isUnavailable: false, unchecked: null };
  } catch (error) {
    if (error instanceof NotChecked) return { problem: null, isUnavailable: false, unchecked: error.message };
    const isUnavailable = error instanceof StoreError && error.kind === 'unavailable';
    const message = messageOf(error);
    const problem = error instanceof ConfigurationError ? message.replace(/^ +/gm, '') : message;
    return { problem, isUnavailable, unchecked: null };
  }
};

const indent = (text: string): string => text.replace(/^/gm, '       ');
