/** Access to the service's private keys, behind the port `Signer` (docs/operations.md, Keys). */
export { openEd25519 } from './ed25519.ts';
export { pathOf, reEncrypt, writePrivateKey } from './encrypted-file.ts';
export { parseKeyUri } from './key-uri.ts';
export { Signers } from './signers.ts';
export type { KeySources } from './sources.ts';
