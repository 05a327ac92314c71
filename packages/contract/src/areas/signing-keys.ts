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
  FORBIDDEN: 'Another Principal’s key, an org:read key, or a Principal key naming another Principal.',
  NOT_FOUND: 'Unknown key, or the Principal to act for is not a member of this org.',
};

export const signingKeyRoutes = {
  retireKey: defineRoute({
    method: 'post',
    path: '/keys/{kid}/retire',
    tag: 'Signing keys',
    summary: 'Retire a signing key',
    description: [
      'Grants allocated so far stay valid under it until they expire, but for those whose `validFrom` is later than now: they',
      'are new then, as is a Grant allocated from now on, which must be signed by an active key. The key stays in a managed',
      'DID document. Repeating the call is harmless; a compromised key stays compromised.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    params: keyParams,
    query: actingFor,
    responses: { 200: json(keyRetired, 'The state the key is in now.') },
    errors,
  }),

  compromiseKey: defineRoute({
    method: 'post',
    path: '/keys/{kid}/compromise',
    tag: 'Signing keys',
    summary: 'Mark a signing key compromised',
    description: [
      'Takes back, for good, everything the key has ever signed. A 200 means that this is visible everywhere: no',
      'verification that starts after it, and none still under way, is allowed. The key leaves a managed DID document.',
      'Repeating the call is harmless. A 503 means it may be recorded but is not yet visible; repeat it.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
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
