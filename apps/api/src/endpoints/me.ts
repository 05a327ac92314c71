/** `GET /me`: whom the key belongs to. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type ApiKeyRecord,
  getOrg,
  internal,
  listMembers,
  type OrgCaller,
  type ServiceDeps,
  verificationOf,
} from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentMembers, presentOrg } from './orgs.ts';

type Me = Body<Routes['getMe'], 200>;

/** Interface §Authentication, Observer key. */
const OBSERVER_SCOPE = ['GET /decisions/stats', 'GET /usage'];

export const getMe =
  (deps: ServiceDeps): Handler<Routes['getMe']> =>
  async ({ caller }) => {
    const answer = (more: Partial<Me>) =>
      ({ status: 200, body: { ...presentKey(deps, caller.key), ...more } }) as const;
    switch (caller.class) {
      case 'rp': {
        const { name, proofWindowSeconds, orgId } = caller.relyingParty;
        return answer({ name, proof_window_seconds: proofWindowSeconds, org_id: orgId });
      }
      case 'principal':
        return answer(await presentSelf(deps, caller.subject));
      case 'org':
        return answer(await presentOwnOrg(deps, caller));
      case 'observer':
        return answer({ scope: OBSERVER_SCOPE });
    }
  };

const presentKey = ({ identity }: ServiceDeps, key: ApiKeyRecord): Me => ({
  subject: key.subject,
  role: key.role,
  key_id: key.keyId,
  service_did: identity.did,
  env: identity.env,
  key_label: key.label,
  key_created_at: formatTimestamp(key.createdAtMs),
});

const presentSelf = async (deps: ServiceDeps, did: string): Promise<Partial<Me>> => {
  const principal = await deps.store.principals.find(did);
  if (principal === null) throw internal(`a live key of no Principal ${did}`);
  return {
    kind: principal.kind,
    verification: verificationOf(deps.identity, principal),
    keys: principal.keys.map(({ kid, state }) => ({ kid, state })),
    org_id: principal.orgId,
  };
};

const presentOwnOrg = async (deps: ServiceDeps, caller: OrgCaller): Promise<Partial<Me>> => ({
  org: presentOrg(await getOrg(deps, caller, caller.subject)),
  members: presentMembers(deps.identity, await listMembers(deps, caller.subject)),
});
