/**
 * Grants (interface §Principal lifecycle): reserve and sign, revoke, list. The signing key never leaves the signer; the
 * service sees a Grant only when a relying party presents it.
 */
import { type Capability, isGrantId, parseGrant, type Signer } from '@svc/protocol';
import {
  type CallOptions,
  type GrantList,
  type GrantSummary,
  iteratePages,
  kindOf,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import { buildGrantDraft, type GrantRequest, signGrant } from './grant-draft.ts';
import type { Patience } from './patience.ts';
import { readGrantAllocation, readGrantList, readRevokeResponse } from './wire.ts';

export interface IssuedGrant {
  /** The signed Grant, for the Agent. Whoever has it can do nothing without the Agent's key. */
  grant: string;
  grantId: string;
  issuer: string;
  agent: string;
  validFrom: string;
  validUntil: string;
  capabilities: readonly Capability[];
}

export interface GrantFilter {
  agent?: string;
  state?: 'active' | 'revoked';
  /** Per page, 1–200. */
  limit?: number;
}

export interface Grants {
  /**
   * Reserves an id and a status entry, then signs the Grant here. A reservation whose Grant was never signed
   * authorises nothing.
   * @throws SvcError `invalid-argument` before anything is sent
   */
  issue(request: GrantRequest, options?: CallOptions): Promise<IssuedGrant>;
  /**
   * Returns once the revocation is in force everywhere: no ALLOW is dated after `revokedAt`. Repeatable.
   * @throws SvcError after a bounded number of attempts; the Grant may then still be in force, so call again.
   */
  revoke(grantId: string, options?: CallOptions): Promise<{ grantId: string; revokedAt: string }>;
  /** Every Grant of the filter, newest first, fetched page by page as it is consumed. */
  list(filter?: GrantFilter, options?: CallOptions): AsyncGenerator<GrantSummary, void, undefined>;
  page(filter?: GrantFilter & { cursor?: string }, options?: CallOptions): Promise<GrantList>;
}

/** What `issue` needs besides the service. */
export interface GrantSigning {
  signer?: Signer;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export function createGrants(transport: Transport, signing: GrantSigning, patience: Patience): Grants {
  const page: Grants['page'] = async (filter = {}, call = {}) => {
    const query = { ...filter };
    const answer = await transport.send({ method: 'GET', path: '/grants', query, hasEffect: false, ...call });
    return readGrantList(answer.body, 'the page');
  };
  return {
    issue: (request, call = {}) => issue(transport, signing, request, call),
    revoke: (grantId, call = {}) => revoke(transport, grantId, { ...patience, ...call }),
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ grants }) => grants,
      ),
    page,
  };
}

async function issue(
  transport: Transport,
  { signer, now = Date.now }: GrantSigning,
  request: GrantRequest,
  call: CallOptions,
): Promise<IssuedGrant> {
  if (signer === undefined) throw new SvcError('configuration', 'issuing a Grant needs a signer');
  const draft = await buildGrantDraft(request, signer.kid, now());
  const body = { agent: draft.agent };
  const answer = await transport.send({ method: 'POST', path: '/grants', body, hasEffect: true, ...call });
  const allocation = readGrantAllocation(answer.body, 'the allocation');
  if (allocation.issuer !== draft.issuer) {
    throw new SvcError(
      'configuration',
      `the API key is of ${allocation.issuer}, but the signer's key is of ${draft.issuer}`,
    );
  }
  if (allocation.agent !== draft.agent) {
    throw new SvcError('bad-response', 'the service allocated the Grant to another Agent', answer);
  }
  const grant = await signGrant(draft, allocation, signer);
  const signed = parseGrant(grant);
  if (!signed.ok)
    throw new SvcError('bad-response', `the allocation makes no valid Grant: ${signed.problem}`);
  const { capabilities } = signed.value;
  const { issuer, agent, validFrom, validUntil } = draft;
  return { grant, grantId: allocation.id, issuer, agent, validFrom, validUntil, capabilities };
}

async function revoke(transport: Transport, grantId: string, call: CallOptions) {
  if (!isGrantId(grantId)) {
    throw new SvcError(
      'invalid-argument',
      `grantId must be a Grant's id, urn:svc:grant: and 26 characters, not the Grant; given ${kindOf(grantId)}`,
    );
  }
  const answer = await transport.send({
    method: 'POST',
    path: '/revoke',
    body: { grant_id: grantId },
    hasEffect: true,
    ...call,
  });
  const response = readRevokeResponse(answer.body, 'the revocation');
  if (response.grant_id !== grantId) {
    throw new SvcError('bad-response', 'the service answered about another Grant', answer);
  }
  return { grantId, revokedAt: response.revoked_at };
}
