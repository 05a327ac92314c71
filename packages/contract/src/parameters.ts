/** Parameters that several routes share. */
import { z } from 'zod';
import { didWeb, instant } from './formats.ts';

/** Interface §Principal lifecycle: the Principal for which a Principal key or an org:admin key acts. */
export const actingFor = z.strictObject({
  principal: didWeb.optional().meta({
    description:
      'Org keys: the member Principal to act for (required). A Principal key acts only for itself.',
  }),
});

export const didParams = z.strictObject({
  did: didWeb.meta({
    description: 'The DID, percent-encoded: send a `%3A` inside it as `%253A`.',
    example: 'did:web:shop.example',
  }),
});

/** The period whose decisions are counted (interface §Limits). */
export const statsRange = {
  since: instant.optional().meta({
    description: 'Decisions evaluated at this instant or later. Default: 29 days ago, 00:00 UTC.',
  }),
  until: instant.optional().meta({
    description:
      'Decisions evaluated before this instant, at most 366 days after `since`. Default: tomorrow, 00:00 UTC.',
  }),
};
