/** What the server is started with: the command line and the environment. Secrets come from files or the environment alone. */
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isProtected } from '@svc/cli/protected-address';
import { parseDidWeb } from '@svc/codec';
import { type Ed25519PrivateJwk, signerFromJwk } from '@svc/sdk-principal';

export const USAGE = `usage: svc-mcp [--write] [--confirm-by-token]

  --write             offers what changes something: issue_grant, revoke_grant. Without it the server only reads.
  --confirm-by-token  where the client cannot ask its user (elicitation), takes a second call with a token for the confirmation

In the environment:
  SVC_DID_DOCUMENT        a file with the service's DID document, obtained over a channel that you trust: Receipts are checked offline
  SVC_DID                 the service's DID; where there is no such file, its document is fetched from the host that it names
  SVC_URL                 the service's address, https
  SVC_PRINCIPAL_KEY       the API key dk_pr_… of a Principal; or SVC_PRINCIPAL_KEY_FILE, a file with nothing else in it
  SVC_PRINCIPAL_JWK_FILE  a file with the private key that Grants are signed with, as a JWK; for issue_grant
  SVC_PRINCIPAL_KID       under which that key is published, did:web:…#key-1`;

/** It cannot be started so. The message says what is right, and holds no secret. */
export class SettingsError extends Error {}

/** How the service's Receipts are believed: at least one of them. */
export interface Trust {
  /** The text of its DID document. */
  readonly document: string | undefined;
  readonly did: string | undefined;
}

export interface PrincipalSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signer: ReturnType<typeof signerFromJwk> | undefined;
}

export interface Settings {
  readonly trust: Trust | undefined;
  readonly principal: PrincipalSettings | undefined;
  readonly writes: boolean;
  readonly confirmsByToken: boolean;
  /** What must never be told. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SettingsError */
export const readSettings = (args: readonly string[], env: Environment): Settings => {
  const { write, 'confirm-by-token': confirmsByToken } = readFlags(args);
  const trust = readTrust(env);
  const { principal, secrets } = readPrincipal(env);
  if (trust === undefined && principal === undefined)
    throw new SettingsError(
      'there is nothing to do: set SVC_DID_DOCUMENT or SVC_DID to check Receipts, SVC_URL and SVC_PRINCIPAL_KEY to look after Grants',
    );
  if (write && principal === undefined)
    throw new SettingsError(
      '--write needs SVC_URL and SVC_PRINCIPAL_KEY: it is a Principal who issues and revokes',
    );
  if (confirmsByToken && !write)
    throw new SettingsError('--confirm-by-token goes with --write: nothing else is confirmed');
  return { trust, principal, writes: write, confirmsByToken, secrets };
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
  return { document: file === undefined ? undefined : readText('SVC_DID_DOCUMENT', file, 1_048_576), did };
};

const readPrincipal = (
  env: Environment,
): { readonly principal: PrincipalSettings | undefined; readonly secrets: readonly string[] } => {
  const apiKey = readApiKey(env);
  const { SVC_URL: baseUrl, SVC_PRINCIPAL_JWK_FILE: file, SVC_PRINCIPAL_KID: kid } = env;
  if (apiKey === undefined) {
    if (file !== undefined) throw new SettingsError('SVC_PRINCIPAL_JWK_FILE goes with SVC_PRINCIPAL_KEY');
    return { principal: undefined, secrets: [] };
  }
  if (baseUrl === undefined || !URL.canParse(baseUrl) || !isProtected(new URL(baseUrl)))
    throw new SettingsError("SVC_URL must be the service's https address; http is for this machine");
  if ((file === undefined) !== (kid === undefined))
    throw new SettingsError('SVC_PRINCIPAL_JWK_FILE and SVC_PRINCIPAL_KID go together');
  if (file === undefined || kid === undefined)
    return { principal: { baseUrl, apiKey, signer: undefined }, secrets: [apiKey] };
  const jwk = readJwk(file);
  return { principal: { baseUrl, apiKey, signer: signerOf(jwk, kid) }, secrets: [apiKey, jwk.d] };
};

const readApiKey = ({
  SVC_PRINCIPAL_KEY: key,
  SVC_PRINCIPAL_KEY_FILE: file,
}: Environment): string | undefined => {
  if (key !== undefined && file !== undefined)
    throw new SettingsError('there must be one of SVC_PRINCIPAL_KEY and SVC_PRINCIPAL_KEY_FILE');
  const given = file === undefined ? key : readText('SVC_PRINCIPAL_KEY_FILE', file, 4_096).trim();
  if (given !== undefined && !/^[\x21-\x7e]{8,512}$/.test(given))
    throw new SettingsError('the API key of the Principal must be one word, dk_pr_…');
  return given;
};

const readJwk = (file: string): Ed25519PrivateJwk => {
  const text = readText('SVC_PRINCIPAL_JWK_FILE', file, 4_096);
  try {
    const jwk = JSON.parse(text) as Ed25519PrivateJwk;
    if (typeof jwk?.d === 'string' && jwk.d !== '') return jwk;
  } catch {
    // The parser's message would quote the file.
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

const readText = (name: string, file: string, maxBytes: number): string => {
  try {
    const { size } = statSync(file);
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${name} cannot be read: ${(error as Error).message}`);
  }
};
