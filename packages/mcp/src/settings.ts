/** The server's settings: the command line and the environment. Secrets come only from files or the environment. */
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isProtected } from '@svc/cli/protected-address';
import { parseDidWeb } from '@svc/codec';
import { readServiceKeys } from '@svc/receipts';
import { type Ed25519PrivateJwk, signerFromJwk } from '@svc/sdk-principal';

export const USAGE = `usage: svc-mcp [--write] [--confirm-by-token]

  --write             offers what changes something: Grants issued and revoked, approvals asked for and answered. Without it the
                      server only reads.
  --confirm-by-token  where the client cannot ask its user (elicitation), takes a second call with a token for the confirmation

In the environment:
  SVC_DID_DOCUMENT        a file with the service's DID document, obtained over a channel that you trust: Receipts are checked offline
  SVC_DID                 the service's DID; where there is no such file, its document is fetched from the host that it names
  SVC_URL                 the service's address, https; http for this machine
  SVC_PRINCIPAL_KEY       the API key dk_principal_… of a Principal; or SVC_PRINCIPAL_KEY_FILE, a file with nothing else in it
  SVC_PRINCIPAL_JWK_FILE  a file with the private key that Grants are signed with, as a JWK; for issue_grant and approve_request
  SVC_PRINCIPAL_KID       under which that key is published, did:web:…#key-1
  SVC_RP_KEY              the API key dk_rp_… of a relying party, which asks for approvals; or SVC_RP_KEY_FILE`;

/** The settings are wrong. The message says what is right and contains no secret. */
export class SettingsError extends Error {}

/** How the service's Receipts are trusted; at least one of the two is given. */
export interface Trust {
  /** The text of the service's DID document. */
  readonly document: string | undefined;
  readonly did: string | undefined;
}

export interface PrincipalSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signer: ReturnType<typeof signerFromJwk> | undefined;
}

export interface RelyingPartySettings {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface Settings {
  readonly trust: Trust | undefined;
  readonly principal: PrincipalSettings | undefined;
  readonly relyingParty: RelyingPartySettings | undefined;
  readonly writes: boolean;
  readonly confirmsByToken: boolean;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
}

const DID_DOCUMENT_MAX_BYTES = 1_048_576;

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SettingsError */
export const readSettings = (args: readonly string[], env: Environment): Settings => {
  const { write, 'confirm-by-token': confirmsByToken } = readFlags(args);
  const trust = readTrust(env);
  const { principal, secrets } = readPrincipal(env);
  const relyingParty = readRelyingParty(env);
  if (relyingParty !== undefined && trust === undefined)
    throw new SettingsError('SVC_RP_KEY goes with SVC_DID_DOCUMENT or SVC_DID: whose service it is asked of');
  if (trust === undefined && principal === undefined && relyingParty === undefined)
    throw new SettingsError(
      'there is nothing to do: set SVC_DID_DOCUMENT or SVC_DID to check Receipts, SVC_URL and SVC_PRINCIPAL_KEY to look after Grants',
    );
  if (write && principal === undefined && relyingParty === undefined)
    throw new SettingsError(
      '--write needs SVC_URL and SVC_PRINCIPAL_KEY, or SVC_RP_KEY: it is a Principal who issues and revokes, and a relying party who asks',
    );
  if (confirmsByToken && !write)
    throw new SettingsError('--confirm-by-token goes with --write: nothing else is confirmed');
  return {
    ...{ trust, principal, relyingParty, writes: write, confirmsByToken },
    secrets: [...secrets, ...(relyingParty === undefined ? [] : [relyingParty.apiKey])],
  };
};

const readFlags = (args: readonly string[]) => {
  try {
    const flag = { type: 'boolean', default: false } as const;
    return parseArgs({ args: [...args], options: { write: flag, 'confirm-by-token': flag } }).values;
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
};

const readTrust = ({ SVC_DID_DOCUMENT: file, SVC_DID: did }: Environment): Trust | undefined => {
  if (did !== undefined && parseDidWeb(did) === null)
    throw new SettingsError('SVC_DID must be the did:web DID of the service, as in did:web:svc.example');
  if (file === undefined && did === undefined) return undefined;
  return { document: file === undefined ? undefined : readDocument(file, did), did };
};

const readDocument = (file: string, did: string | undefined): string => {
  // Some editors begin a file with a byte order mark, which JSON does not allow.
  const text = readText('SVC_DID_DOCUMENT', file, DID_DOCUMENT_MAX_BYTES).replace(/^\ufeff/, '');
  const read = readServiceKeys(text);
  if (read.ok && did !== undefined && read.keys.did !== did)
    throw new SettingsError(
      `SVC_DID_DOCUMENT is of ${read.keys.did}, and SVC_DID is ${did}: set them for the same service`,
    );
  if (read.ok) return text;
  const problem = read.failures.map(({ message }) => message).join('; ');
  throw new SettingsError(`SVC_DID_DOCUMENT must be a file with the DID document of the service: ${problem}`);
};

const readPrincipal = (
  env: Environment,
): { readonly principal: PrincipalSettings | undefined; readonly secrets: readonly string[] } => {
  const apiKey = readApiKey(env, 'SVC_PRINCIPAL_KEY', 'Principal', 'dk_principal_');
  const { SVC_PRINCIPAL_JWK_FILE: file, SVC_PRINCIPAL_KID: kid } = env;
  if (apiKey === undefined) {
    if (file !== undefined) throw new SettingsError('SVC_PRINCIPAL_JWK_FILE goes with SVC_PRINCIPAL_KEY');
    return { principal: undefined, secrets: [] };
  }
  const baseUrl = readAddress(env);
  if ((file === undefined) !== (kid === undefined))
    throw new SettingsError('SVC_PRINCIPAL_JWK_FILE and SVC_PRINCIPAL_KID go together');
  if (file === undefined || kid === undefined)
    return { principal: { baseUrl, apiKey, signer: undefined }, secrets: [apiKey] };
  const jwk = readJwk(file);
  return { principal: { baseUrl, apiKey, signer: signerOf(jwk, kid) }, secrets: [apiKey, jwk.d] };
};

const readRelyingParty = (env: Environment): RelyingPartySettings | undefined => {
  const apiKey = readApiKey(env, 'SVC_RP_KEY', 'relying party', 'dk_rp_');
  return apiKey === undefined ? undefined : { baseUrl: readAddress(env), apiKey };
};

const readAddress = ({ SVC_URL: baseUrl }: Environment): string => {
  if (baseUrl === undefined || !URL.canParse(baseUrl) || !isProtected(new URL(baseUrl)))
    throw new SettingsError("SVC_URL must be the service's https address; http is for this machine");
  return baseUrl;
};

const readApiKey = (env: Environment, name: string, whose: string, prefix: string): string | undefined => {
  const [key, file] = [env[name], env[`${name}_FILE`]];
  if (key !== undefined && file !== undefined)
    throw new SettingsError(`there must be one of ${name} and ${name}_FILE`);
  const given = file === undefined ? key : readSecret(`${name}_FILE`, file).trim();
  if (given === undefined) return undefined;
  const named = file === undefined ? name : `${name}_FILE`;
  if (!given.startsWith(prefix))
    throw new SettingsError(`${named} must begin with ${prefix}: the API key of a ${whose}`);
  if (!/^[\x21-\x7e]{8,512}$/.test(given)) throw new SettingsError(`${named} must be one word: an API key`);
  return given;
};

const readJwk = (file: string): Ed25519PrivateJwk => {
  const text = readSecret('SVC_PRINCIPAL_JWK_FILE', file);
  try {
    const jwk = JSON.parse(text) as Ed25519PrivateJwk;
    if (typeof jwk?.d === 'string' && jwk.d !== '') return jwk;
  } catch {
    // Does not quote the parser's message, which would show the content of the file.
  }
  throw new SettingsError('SVC_PRINCIPAL_JWK_FILE must hold a private Ed25519 JWK: kty, crv, x and d');
};

const signerOf = (jwk: Ed25519PrivateJwk, kid: string) => {
  try {
    return signerFromJwk(jwk, kid);
  } catch (error) {
    throw new SettingsError(`SVC_PRINCIPAL_JWK_FILE or SVC_PRINCIPAL_KID: ${(error as Error).message}`);
  }
};

/**
 * Also checks that nobody else on this machine may read or write the file. Windows has no such modes and reports that
 * everybody may.
 */
const readSecret = (name: string, file: string): string => {
  const text = readText(name, file, 4_096);
  if (process.platform !== 'win32' && (statSync(file).mode & 0o007) !== 0)
    throw new SettingsError(
      `${name}: everybody on this machine may read or write ${file}; run chmod 600 ${file}, or have the secret mounted so (mode 0400)`,
    );
  return text;
};

const readText = (name: string, file: string, maxBytes: number): string => {
  try {
    const { size } = statSync(file);
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    // Node's message quotes the path, which may be the secret itself, put into the variable by mistake.
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SettingsError(`${name} cannot be read: ${code ?? message}`);
  }
};
