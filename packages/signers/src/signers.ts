/** Opens private keys where their URIs say, and makes new ones there. One of a process: what it has opened, it shares and closes. */
import { KeySetError, type PublishedKey, type ServiceSigner } from '@svc/service';
import { makeFile, openFile } from './encrypted-file.ts';
import { parseKeyUri } from './key-uri.ts';
import type { KeySources, MadeKey } from './sources.ts';

export class Signers {
  /** Rejects with `KeySetError` unless what it signs verifies under `key`. */
  async open(uri: string, key: PublishedKey, sources: KeySources): Promise<ServiceSigner> {
    const at = parseKeyUri(uri);
    if (at.kind === 'file') return openFile(at, key, sources);
    throw new KeySetError(`${at.kind}: is not supported`);
  }

  /**
   * A key called `name` where the URI says, made there unless the URI names one that exists. `isLikeThat`: the URI is that of
   * another key, and the new one goes to the same place.
   */
  async make(
    uri: string,
    { name }: { readonly name: string; readonly isLikeThat: boolean },
    sources: KeySources,
  ): Promise<MadeKey> {
    if (uri.startsWith('file:')) return makeFile(name, sources);
    throw new KeySetError('a new key is made in file: only');
  }

  async close(): Promise<void> {}
}
