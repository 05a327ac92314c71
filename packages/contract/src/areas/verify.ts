/** `POST /verify` (interface §Endpoints, Verify). */
import { z } from 'zod';
import { idempotencyKey, repeatHeader } from '../formats.ts';
import { dryRun } from '../resources/dry-run.ts';
import { receipt } from '../resources/receipt.ts';
import { verifyRequest } from '../resources/verify-request.ts';
import { defineRoute, json } from '../route.ts';

export const verifyRoutes = {
  verify: defineRoute({
    method: 'post',
    path: '/verify',
    tag: 'Verify',
    summary: 'Verify that an Agent may do one thing',
    description: [
      'Call this before you act on an Agent’s request. Pass on the `Svc-Grant` and `Svc-Proof` headers that came with',
      'the request, and describe in `action`, from your own data, what you are about to do. The answer is a signed',
      'Receipt: act only on `decision` = `ALLOW`. A DENY is a 200 as well; its `reason` says which check failed.',
      '',
      'Anything wrong inside `grant`, `proof` or `action` is evaluated and answered with a DENY Receipt; only a',
      'malformed envelope is a 400. A Proof can be used for one ALLOW. To be able to repeat the call after a lost',
      'answer, send an `Idempotency-Key`: the same key with the same body returns the stored Receipt for ten minutes,',
      'byte for byte.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'verify',
    headers: z.strictObject({
      'idempotency-key': idempotencyKey
        .optional()
        .meta({ description: 'Identifies this request, so that repeating it returns the same Receipt.' }),
    }),
    body: verifyRequest,
    bodyReading: 'envelope',
    responses: {
      200: json(receipt, 'The decision, ALLOW or DENY, as a signed Receipt.', {
        ...repeatHeader,
        Link: '`rel="help"`, only on a DENY: the page of the guide about its `reason`, with its remedy.',
      }),
    },
    errors: {
      INVALID_REQUEST: 'The envelope is malformed. Nothing was evaluated and no Receipt exists.',
      UNAUTHORIZED:
        'Not a live key of a relying party. A key is not live while its DID is claimed by its org and not proven yet: it verifies nothing, and there is no Receipt.',
      PLAN_REQUIRED:
        'No plan of the org covers this check. There is no Receipt, and the Proof is not spent. Never returned for Grants of the sandbox.',
      CONFLICT: 'This `Idempotency-Key` was used with another body in the last ten minutes.',
      SERVICE_UNAVAILABLE:
        'A backing service is unreachable. No ALLOW was returned. A decision may have been stored; a repeat with the same `Idempotency-Key` returns it.',
    },
  }),

  dryRunVerify: defineRoute({
    method: 'post',
    path: '/verify/dry-run',
    tag: 'Verify',
    summary: 'Show what a verification would answer, and why',
    description: [
      'Evaluates all checks of your profile over the same request as `POST /verify`, and lists every check that fails:',
      'which values were compared, the Capability that came closest, and what to do. For development and support.',
      '',
      'Nothing is spent, signed or stored: the Proof and the budgets stay as they are, and there is no Receipt. **Base',
      'no action on the answer**, because it may be wrong a moment later. The call is admitted, limited and refused',
      'like a verification; it does not use up a plan’s checks.',
    ].join('\n'),
    auth: ['rp'],
    limiter: 'verify',
    body: verifyRequest,
    bodyReading: 'envelope',
    responses: { 200: json(dryRun, 'What a verification would answer. Never an ALLOW.') },
    errors: {
      INVALID_REQUEST: 'The envelope is malformed. Nothing was evaluated.',
      UNAUTHORIZED:
        'Not a live key of a relying party. A key is not live while its DID is claimed by its org and not proven yet.',
      PLAN_REQUIRED: 'No plan of the org covers a verification of this Grant. Nothing was evaluated.',
      SERVICE_UNAVAILABLE: 'A verification could not be decided at the moment either.',
    },
  }),
} as const;
