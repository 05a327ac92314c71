/**
 * `svc-admin keys`: which keys the service ever had, and the way back when one has leaked (docs/operations.md), in one step
 * that can be repeated: what was done already is left.
 */
import { type Config, findKeyFile, loadSecrets, withdrawKey } from '@svc/config';
import { createLogger, openService, readConfig } from '@svc/process';
import { reSignStatusLists, type ServiceDeps, type ServiceKeyRecord } from '@svc/service';
import { createStore } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

type Purpose = 'receipt' | 'status';

export const keysCommand: Command = {
  name: 'keys',
  help: 'lists the keys that the service ever had, and when each was in force.',
  options: {},
  run: (_, env) => list(databaseUrlFrom(env)),
};

export const keysCompromiseCommand: Command = {
  name: 'keys compromise',
  operand: 'KID',
  help: `the way back when receipt-<n> or status-<n> has leaked: takes it out of its key file, with a new key in front where it
was the active one, has every node stop signing with it, publishes that no date under it counts, and signs status lists
anew. In the environment of the API; may be repeated.`,
  options: {},
  run: (_, env, kid) => compromise(kid, readConfig(env), databaseUrlFrom(env)),
};

const list = async (databaseUrl: string): Promise<number> => {
  for (const key of await listStored(databaseUrl)) console.log(`${key.kid}  ${describe(key)}`);
  return 0;
};

const listStored = async (databaseUrl: string): Promise<ServiceKeyRecord[]> => {
  const store = createStore({ databaseUrl, onError: (error) => console.error(error.message) });
  try {
    return await store.serviceKeys.list();
  } finally {
    await store.close();
  }
};

const describe = ({ firstSeenAtMs, retiredAtMs, compromisedAtMs }: ServiceKeyRecord): string => {
  const at = (ms: number) => new Date(ms).toISOString();
  const since = `published ${at(firstSeenAtMs)}`;
  if (compromisedAtMs !== null) return `${since}, compromised ${at(compromisedAtMs)}`;
  return retiredAtMs === null ? since : `${since}, retired ${at(retiredAtMs)}`;
};

/** First the file, so that whoever reads it again finds a key that may sign; then the database, which every node asks. */
const compromise = async (name: string, config: Config, databaseUrl: string): Promise<number> => {
  const did = `did:web:${config.domain}`;
  const fragment = name.startsWith(`${did}#`) ? name.slice(did.length + 1) : name;
  const kids = (await listStored(databaseUrl)).map(({ kid }) => kid);
  const purpose = purposeOf(fragment);
  if (purpose === null || !kids.includes(`${did}#${fragment}`)) {
    console.error(`${did} has no key ${fragment}; it has had ${kids.join(', ') || 'none'}`);
    return 2;
  }
  const file = findKeyFile(purpose, config);
  const number = 1 + Math.max(...kids.map((kid) => numberOf(kid, `${did}#${purpose}-`)));
  const { active, isChanged } = withdrawKey(file, fragment, { purpose, number });
  if (isChanged) console.log(`${file.path}: ${active} signs, ${fragment} has no private part any more.`);
  const sources = { config, secrets: loadSecrets(config), databaseUrl, logger: createLogger('warn') };
  const { service, close } = await openService(sources);
  try {
    await service.store.serviceKeys.end(`${did}#${fragment}`, 'compromised');
    console.log(`${did}#${fragment} is compromised: no node signs with it, and no date under it counts.`);
    const left = purpose === 'status' ? await signListsAnew(service) : 0;
    console.log(afterwards(file.path));
    return left === 0 ? 0 : 1;
  } finally {
    await close();
  }
};

const signListsAnew = async (service: ServiceDeps): Promise<number> => {
  const { signed, left } = await reSignStatusLists(service, new AbortController().signal);
  const rest = left === 0 ? '' : `; ${left} could not be, as the log says: run this again`;
  console.log(`${signed} status lists are signed anew${rest}.`);
  return left;
};

const purposeOf = (fragment: string): Purpose | null => {
  const [, purpose] = /^(receipt|status)-[1-9][0-9]{0,8}$/.exec(fragment) ?? [];
  return purpose === 'receipt' || purpose === 'status' ? purpose : null;
};

const numberOf = (kid: string, prefix: string): number =>
  kid.startsWith(prefix) ? Number(kid.slice(prefix.length)) : 0;

const afterwards = (path: string): string => `
Nodes on this machine take the new key within a second. On every other one put ${path} in the same place:
until then it answers 503. Then
- tell whoever pins the service's DID document or its keys to pin the document as it is now, and whoever pins keys to
  leave this one out;
- relying parties that keep Receipts under this key need their bundles again: GET /decisions/{receipt_id}/bundle;
- look through the decisions since the key may have leaked (docs/operations.md, "A key has leaked").`;
