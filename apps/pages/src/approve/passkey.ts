/**
 * Passkeys (WebAuthn), used only to verify that their user is present. With the PRF extension a passkey also gives a
 * secret after it has verified its user.
 */

export interface Passkey {
  readonly credentialId: ArrayBuffer;
  /** Null where the passkey gives no secret. */
  readonly secret: ArrayBuffer | null;
}

export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function' && window.isSecureContext;

const TIMEOUT_MS = 120_000;
/** Bit in the flags of the authenticator's answer: the authenticator has verified its user. */
const USER_VERIFIED = 0x04;

const random = (bytes: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(bytes));

export const createPasskey = async (name: string, salt: Uint8Array<ArrayBuffer>): Promise<Passkey> => {
  const created = await navigator.credentials
    .create({
      publicKey: {
        rp: { name: 'svc approvals', id: location.hostname },
        user: { id: random(16), name, displayName: name },
        challenge: random(32),
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
        timeout: TIMEOUT_MS,
        extensions: { prf: { eval: { first: salt } } },
      },
    })
    .catch(notConfirmed);
  const { rawId, prf } = read(created);
  if (prf?.enabled !== true) return { credentialId: rawId, secret: null };
  return { credentialId: rawId, secret: prf.secret ?? (await askPasskey(rawId, salt)) };
};

/** Resolves once the passkey has verified its user, with the secret where the passkey gives one. */
export const askPasskey = async (
  credentialId: ArrayBuffer,
  salt: Uint8Array<ArrayBuffer> | null,
): Promise<ArrayBuffer | null> => {
  const found = await navigator.credentials
    .get({
      publicKey: {
        rpId: location.hostname,
        challenge: random(32),
        allowCredentials: [{ type: 'public-key', id: credentialId }],
        userVerification: 'required',
        timeout: TIMEOUT_MS,
        ...(salt !== null && { extensions: { prf: { eval: { first: salt } } } }),
      },
    })
    .catch(notConfirmed);
  const { credential, prf } = read(found);
  const { authenticatorData } = credential.response as AuthenticatorAssertionResponse;
  const flags = new Uint8Array(authenticatorData)[32] ?? 0;
  if ((flags & USER_VERIFIED) === 0) notConfirmed();
  return prf?.secret ?? null;
};

const notConfirmed = (): never => {
  throw new Error('Your device has not confirmed that it is you. Nothing was signed.');
};

const read = (found: Credential | null) => {
  if (!(found instanceof PublicKeyCredential)) return notConfirmed();
  const { prf } = found.getClientExtensionResults();
  const secret = prf?.results?.first;
  return {
    credential: found,
    rawId: found.rawId,
    prf:
      prf === undefined
        ? null
        : { enabled: prf.enabled, secret: secret instanceof ArrayBuffer ? secret : null },
  };
};
