/** Where the service's private keys are, behind the port `Signer` (docs/operations.md, Keys). */
export { pathOf, reEncrypt, writePrivateKey } from './encrypted-file.ts';
export { type KeyUri, parseKeyUri } from './key-uri.ts';
export { Signers } from './signers.ts';
export type { KeySources, MadeKey } from './sources.ts';
