/**
 * The place of a private key, as a URI in a key set's `private_key`. The URI never contains a secret.
 *
 * - `file:receipt-2.pem`: an encrypted PKCS#8 file (RFC 5958), its path relative to the key set's folder or absolute;
 * - `pkcs11:token=svc;object=receipt-2?module-path=/usr/lib/…/module.so`: a key in a token (RFC 7512);
 * - `aws-kms:arn:aws:kms:eu-central-1:123456789012:key/…`: a key of AWS KMS, by its ARN, which stays the same when
 *   aliases change.
 */
import { KeySetError } from '@svc/service';

export interface FileUri {
  readonly kind: 'file';
  readonly path: string;
}

export interface TokenUri {
  readonly kind: 'pkcs11';
  /** Label of the token, and its serial number; null: not given. At least one of the two is given. */
  readonly token: string | null;
  readonly serial: string | null;
  /** The key's label (CKA_LABEL), its id (CKA_ID), or both. */
  readonly object: string | null;
  readonly id: Buffer | null;
  readonly modulePath: string;
  /** The file with the PIN; null: SVC_PKCS11_PIN_FILE. */
  readonly pinPath: string | null;
}

export interface KmsUri {
  readonly kind: 'aws-kms';
  /** Null if the URI names only a region, in which a key is to be made. */
  readonly arn: string | null;
  readonly region: string;
}

export type KeyUri = FileUri | TokenUri | KmsUri;

const FORMS = 'file:<path>, pkcs11:token=…;object=…?module-path=… or aws-kms:arn:aws:kms:…:key/…';

/** Throws `KeySetError`. */
export const parseKeyUri = (uri: string): KeyUri => {
  const colon = uri.indexOf(':');
  const [scheme, rest] = [uri.slice(0, colon), uri.slice(colon + 1)];
  if (scheme === 'file') return { kind: 'file', path: parsePath(rest) };
  if (scheme === 'pkcs11') return parseToken(rest);
  if (scheme === 'aws-kms') return parseKms(rest);
  throw new KeySetError(`private_key must be ${FORMS}`);
};

const parsePath = (rest: string): string => {
  const path = decode(rest.startsWith('///') ? rest.slice(2) : rest);
  if (path === '' || path.startsWith('//') || path.includes('\u0000') || /[?#]/.test(rest))
    throw new KeySetError('private_key must be file:<path>, relative to the key set or absolute');
  return path;
};

const parseKms = (rest: string): KmsUri => {
  const [, ofArn] =
    /^arn:aws[a-z-]*:kms:([a-z0-9-]+):[0-9]{12}:key\/(?:mrk-)?[0-9a-f-]{32,36}$/.exec(rest) ?? [];
  if (ofArn !== undefined) return { kind: 'aws-kms', arn: rest, region: ofArn };
  if (/^[a-z]{2}(-[a-z]+)+-[0-9]$/.test(rest)) return { kind: 'aws-kms', arn: null, region: rest };
  throw new KeySetError(
    'private_key must be aws-kms:<ARN of a key>, not of an alias, since an alias can be moved to another key',
  );
};

/** RFC 7512 §2.3. Unsupported attributes are refused, since ignoring them could select another key. */
const parseToken = (rest: string): TokenUri => {
  const [path = '', query = ''] = rest.split('?', 2);
  const of = attributesOf(path, ';', ['token', 'serial', 'object', 'id', 'type']);
  const also = attributesOf(query, '&', ['module-path', 'pin-source']);
  const modulePath = also.get('module-path');
  if (modulePath === undefined)
    throw new KeySetError('private_key: pkcs11: needs ?module-path=<the library>');
  if (!of.has('token') && !of.has('serial'))
    throw new KeySetError('private_key: pkcs11: needs token= or serial=');
  if ((of.get('type') ?? 'private') !== 'private')
    throw new KeySetError('private_key: pkcs11: type= must be private');
  const id = of.get('id');
  const pinSource = also.get('pin-source');
  return {
    kind: 'pkcs11',
    token: of.get('token') ?? null,
    serial: of.get('serial') ?? null,
    object: of.get('object') ?? null,
    id: id === undefined ? null : Buffer.from(id, 'latin1'),
    modulePath,
    pinPath: pinSource === undefined ? null : pinSource.replace(/^file:(\/\/(?=\/))?/, ''),
  };
};

const attributesOf = (text: string, separator: string, known: readonly string[]): Map<string, string> => {
  const found = new Map<string, string>();
  for (const part of text === '' ? [] : text.split(separator)) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    if (name === 'pin-value')
      throw new KeySetError('private_key: pkcs11: a PIN does not belong into a URI: use pin-source');
    if (!known.includes(name) || found.has(name))
      throw new KeySetError(
        `private_key: pkcs11: takes each of ${known.join(', ')} once, not ${JSON.stringify(name)}`,
      );
    found.set(name, name === 'id' ? decodeBytes(value) : decode(value));
  }
  return found;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new KeySetError('private_key: after a % two hexadecimal digits are expected, of UTF-8');
  }
};

/** `id` is bytes, not text (RFC 7512 §2.3). */
const decodeBytes = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
