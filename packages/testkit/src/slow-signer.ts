/**
 * A slow signer, such as a token behind PKCS#11: it makes two signatures at once, and refuses a request that has no
 * signature within 500 ms, including the time that it waits for its turn.
 */
import type { Signer } from '@svc/protocol';

/** Uses the timers that tests replace. */
const delay = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

const SESSIONS = 2;
const WITHIN_MS = 500;

/** Takes `ms` for a signature. `fail`: whether the token is away. */
export const slowSigner = (ms: number, fail = () => false) => {
  let ends: Promise<unknown>[] = Array(SESSIONS).fill(Promise.resolve());
  let signatures = 0;
  const sign = async () => {
    if (fail()) throw new Error('the token is away');
    const [first = Promise.resolve(), ...others] = ends;
    const signed = first.then(() => delay(ms));
    ends = [...others, signed];
    const late = delay(WITHIN_MS).then(() => Promise.reject(new Error('not signed within 500 ms')));
    await Promise.race([signed, late]);
    signatures += 1;
    return new Uint8Array(64);
  };
  const signer: Signer = { kid: 'did:web:svc.example#status-1', sign };
  const statusKeys = { signer, published: [] };
  const identity = { baseUrl: 'https://svc.example', did: 'did:web:svc.example', statusKeys };
  return { identity, sign, count: () => signatures };
};
