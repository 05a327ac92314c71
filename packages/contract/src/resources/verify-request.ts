/**
 * VerifyRequest (interface §Verify, protocol §5). Only the envelope is checked here: everything inside the three
 * members is evaluated and yields a DENY Receipt, so `action` is any object and is handed on untouched.
 */
import { z } from 'zod';
import { jsonObject } from '../formats.ts';

const jws = (name: string) =>
  z.string({ error: 'must be a string' }).meta({ description: `The ${name} as received.` });

export const verifyRequest = z
  .strictObject({
    grant: jws('`Svc-Grant` header'),
    proof: jws('`Svc-Proof` header'),
    action: jsonObject.meta({
      description:
        'What you are about to do: a `commerce:purchase` {type, resource, amount, currency} or an `api:call` {type, method, resource}.',
      example: { type: 'commerce:purchase', resource: 'order/1001', amount: 4200, currency: 'USD' },
    }),
  })
  .meta({
    id: 'VerifyRequest',
    example: {
      grant: 'eyJhbGciOiJFZERTQSIsImtpZCI6Ii4uLiJ9.eyJpZCI6Ii4uLiJ9.c2lnbmF0dXJl',
      proof: 'eyJhbGciOiJFZERTQSIsImtpZCI6Ii4uLiJ9.eyJqdGkiOiIuLi4ifQ.c2lnbmF0dXJl',
      action: { type: 'commerce:purchase', resource: 'order/1001', amount: 4200, currency: 'USD' },
    },
  });
