import type { PrincipalClient, Signer } from '@svc/sdk-principal';

/** As the Principal of the API key that was given, and with its signing key where one is unlocked. */
export type Act = (signer?: Signer) => PrincipalClient;
