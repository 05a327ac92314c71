/** `GET /me`: whom the key belongs to. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import { type ApiKeyRecord, internal, type ServiceDeps, verificationOf } from '@svc/service';
import type { Handler } from '../../http/index.ts';

type Me = Body<Routes['getMe'], 200>;

export const getMe =
  (deps: ServiceDeps): Handler<Routes['getMe']> =>
  async ({ caller }) => {
    const common = presentKey(deps, caller.key);
    if (caller.class === 'rp') {
      const { name, proofWindowSeconds, orgId } = caller.relyingParty;
      return {
        status: 200,
        body: { ...common, name, proof_window_seconds: proofWindowSeconds, org_id: orgId },
      };
    }
    if (caller.class === 'principal')
      return { status: 200, body: { ...common, ...(await presentSelf(deps, caller.subject)) } };
    return { status: 200, body: common };
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
