/** Where the service's private keys are, behind the port `Signer` (docs/operations.md, Keys). */
export { type Ed25519, nodeEd25519, openEd25519 } from './ed25519.ts';
export { pathOf, reEncrypt, writePrivateKey } from './encrypted-file.ts';
export { type KeyUri, parseKeyUri } from './key-uri.ts';
export { Signers } from './signers.ts';
export type { KeySources, MadeKey } from './sources.ts';
