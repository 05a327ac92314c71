import { checkReadme } from '@svc/testkit/sdk/readme';
import { expect, it } from 'vitest';

const preambles = [
  '',
  "import type { PrincipalClient } from '@svc/sdk-principal'; declare const client: PrincipalClient",
  `import type { ApprovalTerms, PrincipalClient } from '@svc/sdk-principal'; declare const client: PrincipalClient;
   declare const isWanted: (terms: Omit<ApprovalTerms, 'lifetimeSeconds'>) => Promise<boolean>`,
  `import type { PrincipalClient } from '@svc/sdk-principal'; declare const client: PrincipalClient;
   declare const keep: (secret: string) => Promise<void>`,
  `import { type PrincipalClient, verifyWebhook } from '@svc/sdk-principal';
   declare const client: PrincipalClient, secret: string, request: Request`,
  'declare const grant: string',
  `import { type Action, type Agent, createAgentFetch } from '@svc/sdk-principal/agent';
   declare const agent: Agent, grant: string, action: Action`,
];

it('the examples of the README compile as they stand', () => {
  expect(checkReadme(new URL('../', import.meta.url), preambles)).toEqual([]);
}, 120_000);
