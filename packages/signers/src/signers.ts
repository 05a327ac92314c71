/**
 * Opens private keys at the places of their URIs, and makes new ones there. A process has one instance, which shares
 * what it has opened and closes it.
 */
import { KeySetError, type PublishedKey, type ServiceSigner } from '@svc/service';
import { KMS_MAX_BYTES, makeKmsKey, openKms } from './aws-kms.ts';
import { type Ed25519, nodeEd25519 } from './ed25519.ts';
import { makeFile, openFile } from './encrypted-file.ts';
import { type KeyUri, parseKeyUri, type TokenUri } from './key-uri.ts';
import { openToken, RefusedPins, type TokenDeps, tokenCallsOf } from './pkcs11/token.ts';
import { type KeySources, type MadeKey, readPin } from './sources.ts';
import { type WatchedSigner, watchSigner } from './watched-signer.ts';

type RemoteUri = Exclude<KeyUri, { readonly kind: 'file' }>;

/**
 * Milliseconds after its start in which a process looks again for a missing token. After that, a key that failed is
 * read again a second later.
 */
const STARTS_WITHIN_MS = 20_000;

export class Signers {
  private readonly opened = new Map<string, Promise<WatchedSigner>>();
  private readonly tokens = { calls: tokenCallsOf(process.env), refused: new RefusedPins() };
  private readonly startedAtMs = performance.now();

  /** `ed25519`: signs with keys that are in this process. */
  constructor(readonly ed25519: Ed25519 = nodeEd25519()) {}

  /**
   * Rejects with `KeySetError` unless its signatures verify under `key`. Returns the same signer if it is open already.
   */
  async open(uri: string, key: PublishedKey, sources: KeySources): Promise<ServiceSigner> {
    const at = parseKeyUri(uri);
    if (at.kind === 'file') return openFile(at, key, sources, this.ed25519.signWith);
    refuseUnfit(at, key.kid);
    const name = `${key.kid} ${key.publicKeyMultibase} ${uri}`;
    const opening = this.opened.get(name) ?? this.openRemote(at, key, sources);
    this.opened.set(name, opening);
    opening.catch(() => this.opened.delete(name));
    return opening;
  }

  /**
   * Makes a key called `name` in the place of the URI, unless the URI names one that exists. `isLikeThat`: the URI is
   * that of another key, and the new key is made in the same place.
   */
  async make(
    uri: string,
    { name, isLikeThat }: { readonly name: string; readonly isLikeThat: boolean },
    sources: KeySources,
  ): Promise<MadeKey> {
    if (uri.startsWith('file:')) return makeFile(name, sources);
    const at = parseKeyUri(uri);
    if (at.kind === 'aws-kms') return makeKmsKey(isLikeThat ? { ...at, arn: null } : at, name);
    if (at.kind === 'pkcs11')
      return makeInToken(
        uri,
        isLikeThat ? { ...at, object: null, id: null } : at,
        name,
        this.tokenDeps(at, sources),
      );
    throw new KeySetError('a new key is made in file:, pkcs11: or aws-kms:');
  }

  /** Closes unused signers: an open signer goes on requesting test signatures from its key. */
  async closeAllBut(used: readonly ServiceSigner[]): Promise<void> {
    for (const [name, opening] of [...this.opened]) {
      const signer = await opening.catch(() => null);
      if (signer === null || used.includes(signer) || !this.opened.delete(name)) continue;
      await signer.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    await this.closeAllBut([]);
    this.ed25519.close();
  }

  private tokenDeps(at: TokenUri, sources: KeySources): TokenDeps {
    const isStarting = performance.now() - this.startedAtMs < STARTS_WITHIN_MS;
    return { pin: readPin(at, sources), ...this.tokens, isStarting };
  }

  private async openRemote(at: RemoteUri, key: PublishedKey, sources: KeySources): Promise<WatchedSigner> {
    const driver =
      at.kind === 'aws-kms' ? await openKms(at) : await openToken(at, this.tokenDeps(at, sources));
    return watchSigner(driver, key);
  }
}

/** Refuses a key for records that its signer could not sign (decision 51). */
const refuseUnfit = ({ kind }: RemoteUri, kid: string): void => {
  if (/#key-[0-9]+$/.test(kid))
    throw new KeySetError(
      `the sandbox's keys are in the set or in file:, not in ${kind}: their Grants are play`,
    );
  if (kind === 'aws-kms' && /#status-[0-9]+$/.test(kid))
    throw new KeySetError(
      `status lists grow to more than the ${KMS_MAX_BYTES} bytes that AWS KMS signs: status keys are in file: or pkcs11:`,
    );
};

const makeInToken = async (uri: string, at: TokenUri, name: string, deps: TokenDeps): Promise<MadeKey> => {
  const isNamed = at.object !== null || at.id !== null;
  const named = isNamed ? at : { ...at, object: name };
  const token = await openToken(named, deps);
  try {
    if (!isNamed) await token.makeKey();
    return { uri: isNamed ? uri : renamed(uri, name), publicKey: await token.readPublicKey() };
  } finally {
    await token.close();
  }
};

/** The URI with another object, and without an id. */
const renamed = (uri: string, name: string): string => {
  const [path = '', query = ''] = uri.split('?', 2);
  const kept = path.split(';').filter((part) => !/^(?:pkcs11:)?(?:object|id)=/.test(part));
  const first = kept[0]?.startsWith('pkcs11:') ? kept : [`pkcs11:${kept[0]}`, ...kept.slice(1)];
  return `${[...first, `object=${name}`].join(';')}?${query}`;
};
