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
  gist: 'The way back when receipt-<n> or status-<n> has leaked',
  options: { 'private-key': { ...PRIVATE_KEY, text: `of the new key: ${PRIVATE_KEY.text}` } },
  notes: [
    `The key is taken out of its set, with a new one in front where it was the active one; every node stops signing with it; that no
date under it counts is published, and status lists are signed anew. In the environment of the API; may be repeated. Exit code 1: status lists
are left, or nodes may not be able to open the new key; the key has ended all the same.`,
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
  console.log(`${kid} is compromised: no node signs with it, and no date under it counts.`);
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
Its successor is encrypted under the passphrase in SVC_KEY_PASSPHRASE_FILE: nodes that have another one cannot open it. Then, in this
environment: svc-admin keys encrypt ${file.purpose} --new-passphrase-file <that of the nodes>.`;
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
      `${fragment} has ended, and the key that is first in its set now cannot sign: ${fault}\nPut that right, and run this again.`,
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
  console.log(`${file.path}: ${active} signs, ${fragment} has no private part any more.${leftBehind(key)}`);
};

const makeSuccessor = async (place: KeyPlace, uri: string | null): Promise<KeyInFile> => {
  try {
    return await makeKey(place.file, nextKid(place), uri);
  } catch (error) {
    if (!(error instanceof KeySetError)) throw error;
    throw new KeySetError(
      `${error.message}\nNothing was changed, and ${place.fragment} signs on: --private-key file: makes the new key in an encrypted file beside the set`,
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
    const rest = left === 0 ? '' : `; ${left} could not be, as the log says: run this again`;
    console.log(`${signed} status lists are signed anew${rest}.`);
    return left === 0;
  } catch (error) {
    console.error(
      `Status lists could not be signed anew: ${describeError(error, env)}\nPut that right, and run this again.`,
    );
    return false;
  }
};

const afterwards = (file: KeySetFile): string => `
Nodes on this machine that read ${file.path} itself take the new key within a second. On every other one put it in the same
place, with the encrypted file that it names, if it names one: until then it answers 503. Under systemd with LoadCredential= a node
has the copies of its start, and answers 503 until it is started anew: ${restart(file)}. Then
- tell whoever pins the service's DID document or its keys to pin the document as it is now, and whoever pins keys to
  leave this one out;
- relying parties that keep Receipts under this key need their bundles again: GET /decisions/{receipt_id}/bundle;
- look through the decisions since the key may have leaked (docs/operations.md, "A key has leaked").`;

const restart = (file: KeySetFile): string => {
  const hasFiles = readKeySetFile(file).some(({ private_key: uri }) => uri?.startsWith('file:'));
  const first = hasFiles
    ? 'name the encrypted files of now in LoadCredential=, systemctl daemon-reload, '
    : '';
  return `${first}systemctl restart svc-api svc-worker, one machine after the other`;
};
