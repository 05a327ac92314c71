/**
 * VerifyRequest (interface §Verify, protocol §5). Only the envelope is checked here. The content of the three members
 * is evaluated and yields a DENY Receipt if it is wrong. So `action` is any object and is passed on unchanged.
 */
import { z } from 'zod';
import { jsonObject } from '../formats.ts';

const jws = (name: string) =>
  z.string({ error: 'must be a string' }).meta({ description: `The ${name} as received.` });

/** The two forms of an Action, for readers of the API reference. A request with another form also gets a Receipt. */
const form = (title: string, properties: Readonly<Record<string, object>>) => ({
  title,
  type: 'object' as const,
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const purchase = form('A purchase', {
  type: { type: 'string', const: 'commerce:purchase' },
  resource: { type: 'string', minLength: 1, maxLength: 2048, description: 'What is bought.' },
  amount: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'In minor units.' },
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217.' },
});

const apiCall = form('A call of an API', {
  type: { type: 'string', const: 'api:call' },
  method: { type: 'string', pattern: '^[A-Z]{1,32}$' },
  resource: {
    type: 'string',
    pattern: '^https?://',
    maxLength: 2048,
    description: 'The URL that is called.',
  },
});

export const verifyRequest = z
  .strictObject({
    grant: jws('`Svc-Grant` header'),
    proof: jws('`Svc-Proof` header'),
    action: jsonObject.meta({
      description: 'What you are about to do. An object of another form is not a 400: it is denied.',
      oneOf: [purchase, apiCall],
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
