/** A service in memory for unit tests: real keys, real signatures, the real engine; no network, no database. */
export type { PrincipalClient } from '@svc/sdk-principal';
export type { Agent } from '@svc/sdk-principal/agent';
export type { Verifier } from '@svc/sdk-rp';
export type { TestClock } from './clock.ts';
export {
  createTestService,
  type TestPrincipal,
  type TestRelyingParty,
  type TestService,
} from './test-service.ts';
