/** The states of a Principal's signing keys (interface §Key states, §Principal lifecycle). */
import {
  type CallOptions,
  checkValue,
  didWeb,
  isText,
  readKeyCompromised,
  readKeyRetired,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import type { Patience } from './patience.ts';

/** Ends keys of the Principal: replaced keys, and keys that somebody else has obtained. */
export interface SigningKeys {
  /**
   * Grants allocated before stay valid until they expire; Grants allocated later are invalid. Repeatable. A compromised
   * key stays compromised, as `state` shows.
   * @param kid DID URL of the key, `did:web:…#key-1`
   */
  retire(kid: string, options?: CallOptions): Promise<{ kid: string; state: 'retired' | 'compromised' }>;
  /**
   * Revokes everything the key ever signed, for good; returns once that is in force everywhere. Repeatable.
   * @throws SvcError after a bounded number of attempts. Grants of the key may then still be in force, so call again.
   */
  compromise(kid: string, options?: CallOptions): Promise<{ kid: string; state: 'compromised' }>;
}

export function createSigningKeys(transport: Transport, patience: Patience): SigningKeys {
  const post = async (kid: string, what: string, call: CallOptions) => {
    checkValue('kid', kid, aKid);
    // The key id as one path segment: `#` becomes `%23`, and a `%3A` inside the DID becomes `%253A`.
    const path = `/keys/${encodeURIComponent(kid)}/${what}`;
    return transport.send({ method: 'POST', path, hasEffect: true, ...call });
  };
  return {
    async retire(kid, call = {}) {
      const answer = await post(kid, 'retire', call);
      return ofKey(kid, readKeyRetired(answer.body, 'the key'));
    },
    async compromise(kid, call = {}) {
      const answer = await post(kid, 'compromise', { ...patience, ...call });
      return ofKey(kid, readKeyCompromised(answer.body, 'the key'));
    },
  };
}

const aKid = rule('the DID URL of a key, did:web:…#key-1', (value): value is string => {
  if (!isText(value)) return false;
  const [did, fragment = '', ...more] = value.split('#');
  return didWeb.isMet(did) && /^[\x21-\x7e]+$/.test(fragment) && more.length === 0;
});

function ofKey<Key extends { kid: string }>(kid: string, key: Key): Key {
  if (key.kid !== kid) throw new SvcError('bad-response', 'the service answered about another key');
  return key;
}
