import type { Receipt } from '@svc/sdk-rp';
import { checkReadme } from '@svc/testkit/sdk/readme';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { mount, reasonOf } from './inference.ts';

const verifier = "import type { Verifier } from '@svc/sdk-rp'; declare const verifier: Verifier";
/** The parts of Hono that are used. */
const hono = `interface Context { req: { raw: Request }; set(name: string, value: unknown): void }
declare const app: { use(path: string, handle: (c: Context, next: () => Promise<void>) => Promise<Response | void>): void }`;

const preambles = [
  '',
  `${verifier}; import fastify from 'fastify'; import { getAuthority, requireAuthority } from '@svc/sdk-rp/fastify';
   const app = fastify()`,
  `${verifier}; import { createAuthorizer, protect } from '@svc/sdk-rp/fetch'; import type { Action } from '@svc/sdk-rp';
   declare const origin: string; declare const action: (request: Request) => Promise<Action>; ${hono}`,
  `${verifier}; import type { Action, Capability, Receipt } from '@svc/sdk-rp';
   declare const grant: string, proof: string, url: string, action: Action;
   declare const proceed: (authority: Capability, receipt: Receipt) => void, refuse: (reason: string) => void`,
  `${verifier}; import type { Action } from '@svc/sdk-rp'; declare const grant: string, proof: string, action: Action`,
  `${verifier}; import type { Action } from '@svc/sdk-rp'; declare const grant: string, proof: string, action: Action;
   declare const request: { method: string; url: string }, answerAgent: (answer: { grant: string }) => void`,
  `${verifier}; declare const keep: (secret: string) => Promise<void>`,
  "import { verifyWebhook } from '@svc/sdk-rp'; declare const secret: string, request: Request",
  verifier,
  `${verifier}; import { createAuthorizer } from '@svc/sdk-rp/fetch'; import type { Action } from '@svc/sdk-rp';
   declare const action: (request: Request) => Promise<Action>`,
];

it('the examples of the README compile as they stand, and so does other natural usage', () => {
  expect(checkReadme(new URL('../', import.meta.url), preambles, ['test/inference.ts'])).toEqual([]);
}, 120_000);

it('the set-up that compiles there also runs without an error', () => {
  expect(() => mount({ verify: () => Promise.reject(new Error()) }, fastify())).not.toThrow();
});

it('a destructured verdict has a reason and an authority in both forms', () => {
  const reason = 'PROOF_REPLAYED';
  const denied = { allowed: false, decision: 'DENY', authority: null, reason, helpUrl: null } as const;
  expect(reasonOf({ ...denied, idempotentReplay: false, receipt: {} as Receipt })).toBe('PROOF_REPLAYED');
});
