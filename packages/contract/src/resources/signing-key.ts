/** States of a Principal's signing key (interface §Key states). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { keyId } from '../formats.ts';

export const keyState = z.enum(['active', 'retired', 'compromised']);

export const keyRetired = z
  .strictObject({ kid: keyId, state: z.enum(['retired', 'compromised']) })
  .meta({ id: 'KeyRetired', example: { kid: EXAMPLE.signingKey, state: 'retired' } });

export const keyCompromised = z
  .strictObject({ kid: keyId, state: z.literal('compromised') })
  .meta({ id: 'KeyCompromised', example: { kid: EXAMPLE.signingKey, state: 'compromised' } });
