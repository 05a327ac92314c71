/** The owner of the API key that makes the call (interface §API keys and caller identity). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type ApiKeyRecord,
  type EndedKeys,
  findShownKeys,
  getOrg,
  internal,
  listMembers,
  type ObserverCaller,
  type OrgCaller,
  type PrincipalCaller,
  type RpCaller,
  type ServiceDeps,
  verificationOf,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { presentMembers, presentOrg } from './orgs.ts';

type Me = Body<Routes['getMe'], 200>;

/** Interface §Authentication, Observer key. */
const OBSERVER_SCOPE = ['GET /decisions/stats', 'GET /usage'];

export const meEndpoints = (deps: ServiceDeps, endedKeys: EndedKeys): HandlersOf<'me'> => ({
  getMe: async ({ caller }) => {
    const body = { ...presentKeyOf(deps, caller.key), ...(await presentSubject(deps, endedKeys, caller)) };
    return { status: 200, body, headers: timeOf(deps) };
  },
});

/** The time of the clock that dates Receipts; empty while this clock is in doubt. */
const timeOf = ({ clock, holds }: ServiceDeps): Readonly<Record<string, string>> =>
  holds.list().some(({ name }) => name === 'clock') ? {} : { 'Svc-Time': formatTimestamp(clock.nowMs()) };

type MeCaller = RpCaller | PrincipalCaller | OrgCaller | ObserverCaller;

const presentSubject = async (
  deps: ServiceDeps,
  endedKeys: EndedKeys,
  caller: MeCaller,
): Promise<Partial<Me>> => {
  switch (caller.class) {
    case 'rp': {
      const { name, proofWindowSeconds, orgId } = caller.relyingParty;
      return { name, proof_window_seconds: proofWindowSeconds, org_id: orgId };
    }
    case 'principal':
      return presentPrincipalIdentity(deps, endedKeys, caller.subject);
    case 'org':
      return presentOwnOrg(deps, caller);
    case 'observer':
      return { scope: OBSERVER_SCOPE };
  }
};

const presentKeyOf = ({ identity }: ServiceDeps, key: ApiKeyRecord): Me => ({
  subject: key.subject,
  role: key.role,
  key_id: key.keyId,
  service_did: identity.did,
  env: identity.env,
  key_label: key.label,
  key_created_at: formatTimestamp(key.createdAtMs),
});

const presentPrincipalIdentity = async (
  deps: ServiceDeps,
  endedKeys: EndedKeys,
  did: string,
): Promise<Partial<Me>> => {
  const principal = await deps.store.principals.find(did);
  if (principal === null) throw internal(`a live key of no Principal ${did}`);
  const keys = await findShownKeys(endedKeys, principal, deps.clock.nowMs());
  return {
    kind: principal.kind,
    verification: verificationOf(deps.identity, principal),
    keys: keys.map(({ kid, state }) => ({ kid, state })),
    org_id: principal.orgId,
  };
};

const presentOwnOrg = async (deps: ServiceDeps, caller: OrgCaller): Promise<Partial<Me>> => ({
  org: presentOrg(await getOrg(deps, caller, caller.subject)),
  members: presentMembers(deps.identity, await listMembers(deps, caller.subject)),
});
