/**
 * Opens private keys where their URIs say, and makes new ones there. One of a process: what it has opened, it shares
 * and closes.
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

/** How long after its start a process looks again for a token that was not there. A later key is read again a second after it failed. */
const STARTS_WITHIN_MS = 20_000;

export class Signers {
  private readonly opened = new Map<string, Promise<WatchedSigner>>();
  private readonly tokens = { calls: tokenCallsOf(process.env), refused: new RefusedPins() };
  private readonly startedAtMs = performance.now();

  /** `ed25519`: what signs with keys that are in this process. */
  constructor(readonly ed25519: Ed25519 = nodeEd25519()) {}

  /** Rejects with `KeySetError` unless what it signs verifies under `key`. One that is open already is given again. */
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
   * A key called `name` where the URI says, made there unless the URI names one that exists. `isLikeThat`: the URI is that of
   * another key, and the new one goes to the same place.
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

  /** One that stays open goes on asking its key for a signature now and then, although nobody signs with it. */
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

/** What a signer could not sign is refused before it is relied on (decision 51). */
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

/** The URI with another object in it, and no id. */
const renamed = (uri: string, name: string): string => {
  const [path = '', query = ''] = uri.split('?', 2);
  const kept = path.split(';').filter((part) => !/^(?:pkcs11:)?(?:object|id)=/.test(part));
  const first = kept[0]?.startsWith('pkcs11:') ? kept : [`pkcs11:${kept[0]}`, ...kept.slice(1)];
  return `${[...first, `object=${name}`].join(';')}?${query}`;
};
