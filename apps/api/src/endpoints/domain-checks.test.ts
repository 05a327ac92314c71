import { type Caller, DomainChecks, type ServiceDeps } from '@svc/service';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { principalEndpoints } from './principals.ts';
import { relyingPartyEndpoints } from './relying-parties.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const org = (subject: string) => ({ class: 'org', role: 'admin', subject, isNewcomer: false }) as Caller;

type Call = (given: object) => Promise<unknown>;

/** Endpoints whose domains never answer, and the domains that were asked. A DID belongs to the org at its end. */
const endpointsOf = () => {
  const asked: string[] = [];
  const check = ({ did }: { readonly did: string }) => {
    asked.push(did);
    return new Promise(() => {});
  };
  const find = async (did: string) => ({
    ...{ did, kind: 'hosted', orgId: did.split(':').at(-1) },
    ...{ claimExpiresAtMs: 1, verificationToken: 'token' },
  });
  const deps = {
    identity: { domain: 'svc.example', baseUrl: 'https://svc.example' },
    ...{ clock: { nowMs: () => 0 }, random: { bytes: (length: number) => new Uint8Array(length) } },
    domainProver: { check },
    didResolver: { resolve: () => new Promise(() => {}) },
    store: {
      principals: { find },
      relyingParties: { find },
      claims: { contest: async () => 'token' },
      orgs: { isNewcomer: async () => false },
    },
  } as unknown as ServiceDeps;
  const checks = new DomainChecks();
  const endpoints = {
    ...principalEndpoints(deps, checks, undefined as never),
    ...relyingPartyEndpoints(deps, checks, undefined as never),
  };
  return { asked, endpoints: endpoints as unknown as Readonly<Record<string, Call>> };
};

it.each([
  ['verifyPrincipal', 'org_one'],
  ['createPrincipal', 'org_other'],
  ['verifyRelyingParty', 'org_one'],
  ['createRelyingParty', 'org_other'],
])('%s checks at most two domains at once for one org, whose hosts never answer', async (id, owner) => {
  const { asked, endpoints } = endpointsOf();
  const ask = async (name: string, caller: Caller) => {
    const did = `did:web:${name}.example:${owner}`;
    endpoints[id]?.({ caller, params: { did }, body: { kind: 'hosted', did }, requestId: 'r' }).catch(
      () => {},
    );
    await vi.advanceTimersByTimeAsync(0);
  };
  for (const name of ['a', 'b', 'c']) await ask(name, org('org_one'));
  expect(asked).toEqual([`did:web:a.example:${owner}`, `did:web:b.example:${owner}`]);
});
