/**
 * The engine as the service calls it, with libsodium where it loads, but without its cache of Grants that it has seen
 * before.
 */
import { generateKeyPairSync } from 'node:crypto';
import {
  buildReceiptBody,
  type Decided,
  encodeUlid,
  evaluate,
  type Facts,
  found,
  parseDidDocument,
  parsePresented,
  type Signer,
  type VerifyRequest,
} from '@svc/protocol';
import { signReceipt } from '@svc/receipts';
import { pooledRandom } from '@svc/service';
import { openEd25519 } from '@svc/signers';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { PROOF_WINDOW_SECONDS, type World } from '../fixtures/world.ts';
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

const FACTS_USED_MS = 5_000;

/** The facts for a holder's Grant, as storage returns them. */
function factsOf(world: World, index: number, nowMs: number): Facts {
  const { principal, statusList, holders } = world;
  const holder = turnOf(holders, index);
  const document = parseDidDocument(principal.document.text, principal.did as never);
  demand(document !== null, 'the document of the Principal does not parse');
  return {
    principal: found({ verification: 'verified', key: { state: 'active', sinceMs: nowMs - 60_000 } }),
    document: found({ document, hash: principal.document.hash as never, resolvedAtMs: nowMs }),
    allocation: found({
      issuer: principal.did as never,
      agent: holder.agent as never,
      statusListCredential: statusList.url,
      statusListIndex: holder.statusListIndex,
      allocatedAtMs: nowMs - 60_000,
      grantHash: null,
    }),
    status: found({
      revoked: false,
      credentialHash: statusList.hash as never,
      validFrom: null,
      checkedAtMs: nowMs,
    }),
    spent: found(false),
  };
}

export async function ourPeers(world: World): Promise<readonly Peer[]> {
  const { crypto, signWith, name } = await openEd25519('auto');
  const sign = signWith(generateKeyPairSync('ed25519').privateKey);
  const signer: Signer = { kid: 'did:web:localhost#receipt-1', sign };
  const requests = new VerifyRequests(world)
    .sign(REQUESTS)
    .map((body) => JSON.parse(body.toString()) as VerifyRequest);
  let readMs = 0;
  let facts: readonly Facts[] = [];
  // As in the service, facts are used for a while; a status list that is too old would allow nothing.
  const factsAt = (nowMs: number) => {
    if (nowMs - readMs < FACTS_USED_MS) return facts;
    readMs = nowMs;
    facts = requests.map((_, i) => factsOf(world, i, nowMs));
    return facts;
  };
  const relyingParty = {
    did: world.relyingParty.did as never,
    profile: 'svc-base-v1' as const,
    proofWindowSeconds: PROOF_WINDOW_SECONDS,
  };
  const random = pooledRandom();

  const decide = (i: number) => {
    const request = turnOf(requests, i);
    const nowMs = Date.now();
    const context = { relyingParty, nowMs, crypto };
    const decided = evaluate(parsePresented(request), turnOf(factsAt(nowMs), i), context);
    demand(decided.kind === 'decided' && decided.decision === 'ALLOW', `ours: ${describe(decided)}`);
    return { request, decided, context };
  };
  const decideWithReceipt = async (i: number) => {
    const { request, decided, context } = decide(i);
    const receiptId = `drc_${encodeUlid(context.nowMs, random.bytes(10))}` as never;
    await signReceipt(buildReceiptBody(request, decided, { ...context, receiptId }), signer);
  };
  const signatures = 2;
  return [
    { name: `ours, decision + Receipt (${name})`, signatures, without: 'storing it', run: decideWithReceipt },
    { name: `ours, decision (${name})`, signatures, without: 'Receipt, storing it', run: decide },
  ];
}

const describe = (decided: Decided | { readonly kind: 'undecided' }): string =>
  decided.kind === 'decided' ? `${decided.decision} ${decided.reason}` : 'undecided';
