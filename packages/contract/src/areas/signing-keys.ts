/** A Principal's signing keys (interface §Endpoints, Principal lifecycle; §Key states). */
import { z } from 'zod';
import { signingKeyId } from '../formats.ts';
import { actingFor } from '../parameters.ts';
import { keyCompromised, keyRetired } from '../resources/signing-key.ts';
import { defineRoute, json } from '../route.ts';

const keyParams = z.strictObject({
  kid: signingKeyId.meta({
    description:
      'The DID URL of the key, percent-encoded: `#` is sent as `%23`, a `%3A` inside it as `%253A`.',
  }),
});

const errors = {
  FORBIDDEN:
    'It is another Principal’s key, or the call was made with an org:read key or with a Principal key naming another Principal.',
  NOT_FOUND: 'Unknown key, or the Principal to act for is not a member of this org.',
};

export const signingKeyRoutes = {
  retireKey: defineRoute({
    method: 'post',
    path: '/keys/{kid}/retire',
    tag: 'Signing keys',
    summary: 'Retire a signing key',
    description: [
      'Grants that are already allocated stay valid under the key until they expire, except those whose `validFrom` is',
      'later than now. These count as new, like Grants that are allocated from now on; new Grants must be signed by an',
      'active key. The key stays in a managed DID document. You may repeat the call; a compromised key stays',
      'compromised.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: keyParams,
    query: actingFor,
    responses: { 200: json(keyRetired, 'The state of the key now.') },
    errors,
  }),

  compromiseKey: defineRoute({
    method: 'post',
    path: '/keys/{kid}/compromise',
    tag: 'Signing keys',
    summary: 'Mark a signing key compromised',
    description: [
      'Revokes, for good, everything that the key has ever signed. A 200 means that this is visible everywhere: no',
      'verification that starts after it, and none still in progress, is allowed. The key is removed from a managed DID',
      'document. You may repeat the call. A 503 means that it may be recorded but is not yet visible: repeat the call.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: keyParams,
    query: actingFor,
    responses: { 200: json(keyCompromised, 'Compromised, and visible everywhere.') },
    errors: {
      ...errors,
      SERVICE_UNAVAILABLE:
        'Recorded but not yet visible to every verification, or storage is unreachable. Repeat the call.',
    },
  }),
} as const;
