/**
 * `svc-admin keys compromise`: recovers after a key of the service has leaked (docs/operations.md, “A key has leaked”).
 */
import {
  type Environment,
  type KeyInFile,
  type KeySetFile,
  loadWorkerSecrets,
  makeKey,
  openServiceKeys,
  readKeySetFile,
  withdrawKey,
} from '@svc/config';
import { createLogger, openService, readConfig } from '@svc/process';
import { KeySetError, reSignStatusLists } from '@svc/service';
import { type Command, databaseUrlFrom, describeError } from './command.ts';
import {
  findKeyFault,
  type KeyPlace,
  leftBehind,
  listStored,
  nextKid,
  openKeyPlace,
  PLACE,
  PRIVATE_KEY,
  refuseOtherService,
  uriOf,
  withStore,
} from './key-place.ts';

export const keysCompromiseCommand: Command = {
  name: 'keys compromise',
  operand: 'KID',
  gist: 'Ends receipt-<n> or status-<n> after its private key has leaked',
  options: { 'private-key': PRIVATE_KEY },
  notes: [
    `It removes the private part of the key from its set. If the key was the active one, it makes a new key and puts that first. Every
node stops signing with the leaked key, and the service publishes that no date signed with it counts. If it was a status key, all status lists are
signed anew.`,
    `Run it in the environment of the API. It may be repeated. Exit code 1: the key has ended, but status lists are not all signed anew yet,
the key that is now first in the set cannot sign, or nodes may not be able to open the new key. The output says which.`,
    PLACE,
  ],
  run: (values, env, name) =>
    openKeyPlace(env, name, (place) => compromise(place, uriOf(values), databaseUrlFrom(env), env)),
};

/**
 * First changes the file, so that a process that reads it again finds a key that may sign. Then changes the database,
 * which every node reads. Nothing else comes before that: while another key is unavailable, or the time is in doubt,
 * nodes would continue to sign with this key.
 */
const compromise = async (
  place: KeyPlace,
  uri: string | null,
  databaseUrl: string,
  env: Environment,
): Promise<number> => {
  const { file, fragment, did, stored } = place;
  const kid = `${did}#${fragment}`;
  if (stored.every((key) => key.kid !== kid)) {
    console.error(
      `${did} has no key ${fragment}; it has had ${stored.map((key) => key.kid).join(', ') || 'none'}`,
    );
    return 2;
  }
  await refuseOtherService(databaseUrl, did);
  const passphraseFault = await findPassphraseFault(place, uri, env);
  await takeOut(place, uri);
  await withStore(databaseUrl, ({ serviceKeys }) => serviceKeys.end(kid, 'compromised'));
  console.log(`${kid} is compromised: no node signs with it any more, and no date signed with it counts.`);
  const isDone =
    file.purpose === 'status'
      ? await signListsAnew(file, databaseUrl, env)
      : await canSign(place, databaseUrl, env);
  if (passphraseFault !== null) console.error(passphraseFault);
  console.log(afterwards(file));
  return isDone && passphraseFault === null ? 0 : 1;
};

/**
 * A text if the key is in an encrypted file that this environment's passphrase does not open, although the successor is
 * encrypted with that passphrase; else null. Must be called while the file still exists. It does not delay the command,
 * since the key has leaked.
 */
const findPassphraseFault = async (
  { file, fragment }: KeyPlace,
  uri: string | null,
  env: Environment,
): Promise<string | null> => {
  const [first] = readKeySetFile(file);
  const place = first?.private_key;
  if (first?.kid !== fragment || !place?.startsWith('file:') || uri?.startsWith('file:') === false)
    return null;
  try {
    await openOwn(file, env);
    return null;
  } catch (error) {
    return `${fragment} could not be opened here: ${describeError(error, env)}
Its successor is encrypted with the passphrase in SVC_KEY_PASSPHRASE_FILE, and nodes with another passphrase cannot open it. If the nodes
have another one, run in this environment: svc-admin keys encrypt ${file.purpose} --new-passphrase-file <that of the nodes>.`;
  }
};

const openOwn = ({ purpose, signers }: KeySetFile, env: Environment) =>
  openServiceKeys(purpose === 'status' ? 'status' : 'receipt', readConfig(env), signers);

/** Whether a start with the present set could sign. */
const canSign = async (
  { file, fragment }: KeyPlace,
  databaseUrl: string,
  env: Environment,
): Promise<boolean> => {
  const fault = await findFault(file, databaseUrl, env).catch((error) => describeError(error, env));
  if (fault !== null)
    console.error(
      `${fragment} has ended, and the key that is now first in its set cannot sign: ${fault}\nCorrect that, then run this command again.`,
    );
  return fault === null;
};

const findFault = async (file: KeySetFile, databaseUrl: string, env: Environment): Promise<string | null> => {
  const { signer, published } = await openOwn(file, env);
  const active = published.find(({ kid }) => kid === signer.kid);
  const known = (await listStored(databaseUrl)).find(({ kid }) => kid === signer.kid);
  return active === undefined ? null : findKeyFault(known, active, true);
};

const takeOut = async (place: KeyPlace, uri: string | null): Promise<void> => {
  const { file, fragment } = place;
  const [first, ...others] = readKeySetFile(file);
  const isActive = first?.kid === fragment;
  const key = [first, ...others].find((one) => one?.kid === fragment);
  if (key === undefined || (!isActive && key.d === undefined && key.private_key === undefined)) return;
  const successor = isActive ? await makeSuccessor(place, uri) : null;
  withdrawKey(file, fragment, successor);
  const active = successor?.kid ?? first?.kid ?? '';
  console.log(
    `${file.path}: ${active} signs, and ${fragment} has no private part any more.${leftBehind(key)}`,
  );
};

const makeSuccessor = async (place: KeyPlace, uri: string | null): Promise<KeyInFile> => {
  try {
    return await makeKey(place.file, nextKid(place), uri);
  } catch (error) {
    if (!(error instanceof KeySetError)) throw error;
    throw new KeySetError(
      `${error.message}\nNothing was changed, and ${place.fragment} still signs. --private-key file: makes the new key in an encrypted file beside the set`,
      { cause: error },
    );
  }
};

/** Resolves with true if all lists were signed anew. */
const signListsAnew = async (file: KeySetFile, databaseUrl: string, env: Environment): Promise<boolean> => {
  try {
    const config = readConfig(env);
    const secrets = await loadWorkerSecrets(config, file.signers);
    const logger = createLogger('warn');
    const { service, close } = await openService({ config, secrets, databaseUrl, logger, isOperator: true });
    const { signed, left } = await reSignStatusLists(service, new AbortController().signal).finally(close);
    const rest = left === 0 ? '' : `; ${left} could not be signed (the log says why): run this command again`;
    console.log(`${signed} status lists are signed anew${rest}.`);
    return left === 0;
  } catch (error) {
    console.error(
      `Status lists could not be signed anew: ${describeError(error, env)}\nCorrect that, then run this command again.`,
    );
    return false;
  }
};

const afterwards = (file: KeySetFile): string => `
Nodes on this machine that read ${file.path} itself take the new key within a second. On every other machine, put this file in the
same place, with the encrypted file that it names, if it names one: until then the nodes there answer 503. Under systemd with
LoadCredential= a node keeps the copies from its start, and answers 503 until it is restarted: ${restart(file)}. Then
- tell relying parties that pin the service's DID document to pin the present one, and those that pin its keys to add the
  new key, if there is one, and to leave this key out. A monitor that pins a status key keeps it, with its end;
- tell relying parties that keep Receipts under this key to fetch their bundles again: GET /decisions/{receipt_id}/bundle;
- check the decisions since the time when the key may have leaked (docs/operations.md, "A key has leaked").`;

const restart = (file: KeySetFile): string => {
  const hasFiles = readKeySetFile(file).some(({ private_key: uri }) => uri?.startsWith('file:'));
  const first = hasFiles
    ? 'name the present encrypted files in LoadCredential=, systemctl daemon-reload, '
    : '';
  return `${first}systemctl restart svc-api svc-worker, one machine after the other`;
};
