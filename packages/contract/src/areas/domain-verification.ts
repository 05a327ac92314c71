/** Proof of a Principal's domain (interface §Endpoints, Principal lifecycle; §Verification). */
import { didParams } from '../parameters.ts';
import { principal } from '../resources/principal.ts';
import { defineRoute, json } from '../route.ts';

export const domainVerificationRoutes = {
  verifyPrincipal: defineRoute({
    method: 'post',
    path: '/principals/{did}/verify',
    tag: 'Principals',
    summary: 'Verify a Principal’s domain now',
    description: [
      'Looks for the proof in DNS and at the well-known address, and fetches the DID document again. The answer holds the',
      'state after that. The proof found: `verified`. Positively no proof: `unverified`, and no verification is answered',
      'ALLOW any more. If the domain cannot be asked, the state stays for up to 72 hours since the last proof. A managed',
      'Principal is always verified. The domain is checked again every 24 hours.',
    ].join('\n'),
    auth: ['principal', 'org:admin', 'admin'],
    limiter: 'authenticated',
    params: didParams,
    responses: { 200: json(principal, 'The Principal after the check.') },
    errors: {
      SERVICE_UNAVAILABLE: 'The outcome may be recorded, and is not yet visible everywhere. Repeat the call.',
    },
  }),
} as const;
