import type { PrincipalClient, Signer } from '@svc/sdk-principal';

/** Acts as the Principal of the API key that was given, and signs with its signing key where one is unlocked. */
export type Act = (signer?: Signer) => PrincipalClient;
