// The 24 checks in the order of docs/protocol.md §7, and the Receipt body of §8.

import { consumptionOf, hasBudget, suffices } from './budgets.mjs';
import { canonical, sha256 } from './json.mjs';
import { bytesOfMultikey, isSignedBy, strictKey } from './keys.mjs';
import { assertionKey, isAction, readDocument, readGrant, readProof } from './tokens.mjs';
import { normalizeHtu, reaches } from './urls.mjs';

const profiles = {
  'svc-base-v1': {
    hash: 'sha256:0975a6dc1ec391b4d27271459c10281b9436849c527bd0519abab4d8e339aec2',
    constraints: { 'commerce:purchase': ['maxAmount', 'currency'], 'api:call': ['methods'] },
    hasBudgets: false,
  },
  'svc-base-v2': {
    hash: 'sha256:752ae3be25a7f0b9531efa9da92b7620f359b25dd88b9371100e5546ed415b96',
    constraints: {
      'commerce:purchase': ['maxAmount', 'currency', 'maxTotal', 'maxPerPeriod', 'period', 'maxUses'],
      'api:call': ['methods', 'maxUses'],
    },
    hasBudgets: true,
  },
};
const trustConfig = {
  trust_config_hash: 'sha256:0c4a5230f05be003701063986b5d01534d64cdf8423c322f83eb12ba7123c78e',
  trust_config_version: 'svc-trust-config-1',
};
const documentMaxAgeMs = 3_600_000;
const statusMaxAgeMs = 30_000;
const skewMs = 5000;

export const profileNames = Object.keys(profiles);

/** The result of a check that cannot be decided. */
const unavailable = Symbol('unavailable');

const timeOf = (ms) => new Date(ms).toISOString();

/** The body of the Receipt for the input of an evaluate case. Throws if the input is not valid. */
export function evaluate({
  receipt_id,
  now,
  relying_party: party,
  grant: grantToken,
  proof: proofToken,
  action,
  facts,
}) {
  const nowMs = Date.parse(now);
  const profile = profiles[party.profile];
  if (profile === undefined || Number.isNaN(nowMs)) throw new Error('unknown profile, or no time');
  let reason = null;

  /**
   * Decides a check if every check that it requires is true. The first check that is false or unavailable gives the
   * reason.
   */
  const settle = (required, whenFalse, decide) => {
    if (required.some((outcome) => outcome !== true)) return 'skipped';
    const answer = decide();
    if (answer === true) return true;
    reason ??= answer === unavailable ? 'SERVICE_UNAVAILABLE' : whenFalse;
    return answer === unavailable ? 'skipped' : false;
  };

  const [grant, grantFault] = attempt(() => readGrant(grantToken, profile.hasBudgets));
  const P1 = settle([], grantFault, () => grant !== null);

  const principal = facts.principal.found;
  const T1 = settle([P1], 'ISSUER_UNKNOWN', () => principal !== undefined || absent(facts.principal));
  const T2 = settle([T1], 'ISSUER_UNVERIFIED', () => principal.verification === 'verified');
  const T3 = settle([T1], 'ISSUER_KEY_COMPROMISED', () => principal.key?.state !== 'compromised');

  let resolution;
  let issuerKey;
  const P2 = settle([P1, T1, T3], 'ISSUER_KEY_NOT_FOUND', () => {
    const fact = facts.document.found;
    if (fact === undefined) return absent(facts.document);
    const document = readDocument(fact.document, grant.issuer);
    const resolvedMs = Date.parse(fact.resolved_at);
    if (document === null || nowMs - resolvedMs > documentMaxAgeMs) return unavailable;
    const hash = sha256(fact.document);
    resolution = { did: grant.issuer, did_document_hash: hash, resolved_at: timeOf(resolvedMs) };
    const bytes = assertionKey(document, grant.kid, nowMs);
    issuerKey = bytes && strictKey(bytes);
    if (issuerKey === null || principal.key?.state !== 'retired') return issuerKey !== null;
    if (grant.fromMs > Date.parse(principal.key.since)) return false;
    const allocation = facts.allocation.found;
    if (allocation === undefined) return absent(facts.allocation);
    return Date.parse(allocation.allocated_at) <= Date.parse(principal.key.since);
  });
  const P3 = settle([P2], 'GRANT_SIGNATURE_INVALID', () =>
    isSignedBy(issuerKey, grant.signed, grant.signature),
  );
  const P4 = settle([P3], 'GRANT_NOT_YET_VALID', () => grant.fromMs <= nowMs);
  const P5 = settle([P3], 'GRANT_EXPIRED', () => nowMs < grant.untilMs);

  let consulted;
  const P6 = settle([P3], 'AUTHORITY_REVOKED', () => {
    const allocation = facts.allocation.found;
    if (allocation === undefined) return absent(facts.allocation);
    const { statusListCredential: url, statusListIndex: index } = grant.status;
    if (allocation.issuer !== grant.issuer || allocation.agent !== grant.agent) return false;
    if (allocation.status_list_credential !== url || allocation.status_list_index !== index) return false;
    if (grant.status.id !== `${url}#${index}`) return false;
    if ((allocation.grant_hash ?? sha256(grantToken)) !== sha256(grantToken)) return false;
    const list = facts.status.found;
    if (list === undefined || nowMs - Date.parse(list.checked_at) > statusMaxAgeMs) return unavailable;
    consulted = {
      checked_at: timeOf(Date.parse(list.checked_at)),
      credential_hash: list.credential_hash,
      credential_url: url,
      status_list_index: index,
      ...(list.valid_from === null ? {} : { valid_from: list.valid_from }),
    };
    return !list.revoked;
  });
  const P7 = settle([P3], 'AUDIENCE_MISMATCH', () => grant.audience?.includes(party.did) ?? true);

  const [proof, proofFault] = attempt(() => readProof(proofToken));
  const P8 = settle([], proofFault, () => proof !== null);
  const P9 = settle([P8], 'PROOF_SIGNATURE_INVALID', () => {
    const key = strictKey(bytesOfMultikey(proof.agent.slice('did:key:'.length)));
    return key !== null && isSignedBy(key, proof.signed, proof.signature);
  });
  const P10 = settle([P3, P9], 'PROOF_AGENT_MISMATCH', () => proof.agent === grant.agent);
  const P11 = settle([P3, P9], 'PROOF_GRANT_MISMATCH', () => proof.grantId === grant.id);
  const P12 = settle([P9], 'PROOF_AUDIENCE_MISMATCH', () => proof.aud === party.did);
  const P13 = settle([P9], 'PROOF_EXPIRED', () => {
    const madeMs = proof.iat * 1000;
    return nowMs - party.proof_window_seconds * 1000 <= madeMs && madeMs <= nowMs + skewMs;
  });

  const P15 = settle([], 'ACTION_MALFORMED', () => isAction(action));
  const isCall = P15 === true && action.type === 'api:call';
  const P14 = settle([P9, P15], 'PROOF_ACTION_MISMATCH', () => {
    if (canonical(proof.action) !== canonical(action)) return false;
    return !isCall || (proof.htm === action.method && proof.htu === normalizeHtu(action.resource));
  });

  let left = P3 === true ? grant.capabilities : [];
  const narrow = (isKept) => {
    left = left.filter(isKept);
    return left.length > 0;
  };
  const P16 = settle([P3, P15], 'ACTION_NOT_AUTHORIZED', () =>
    narrow(
      (one) => one.action === action.type && (!isCall || one.constraints.methods.includes(action.method)),
    ),
  );
  const P17 = settle([P16], 'UNKNOWN_CONSTRAINT', () =>
    narrow((one) =>
      Object.keys(one.constraints).every((key) => profile.constraints[action.type].includes(key)),
    ),
  );
  const P18 = settle([P17], 'CURRENCY_NOT_AUTHORIZED', () =>
    narrow((one) => isCall || one.constraints.currency === action.currency),
  );
  let balances;
  const P19 = settle([P18], 'AMOUNT_EXCEEDS_AUTHORITY', () => {
    if (!narrow((one) => isCall || action.amount <= one.constraints.maxAmount)) return false;
    if (!left.some(hasBudget)) return true;
    balances = facts.balances.found;
    if (balances?.grant_id !== grant.id) return unavailable;
    return narrow((one) => !hasBudget(one) || suffices(one, balances, action.amount ?? 0, nowMs));
  });
  const P20 = settle([P19], 'RESOURCE_NOT_AUTHORIZED', () =>
    narrow((one) => one.resources?.some((pattern) => reaches(pattern, action.resource, isCall)) ?? true),
  );

  const early = [P1, T1, T2, T3, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P15, P14];
  const T5 = settle([...early, P16, P17, P18, P19, P20], 'PROOF_REPLAYED', () =>
    facts.spent.found === undefined ? unavailable : !facts.spent.found,
  );

  const protocol = {
    P1,
    P2,
    P3,
    P4,
    P5,
    P6,
    P7,
    P8,
    P9,
    P10,
    P11,
    P12,
    P13,
    P14,
    P15,
    P16,
    P17,
    P18,
    P19,
    P20,
  };
  const trust = { T1, T2, T3, T5 };
  const decision = T5 === true ? 'ALLOW' : 'DENY';
  return {
    decision,
    reason,
    receipt_id,
    receipt_version: 'svc-receipt-v1',
    evaluated_at: timeOf(nowMs),
    relying_party: party.did,
    grant_hash: sha256(grantToken),
    proof_hash: sha256(proofToken),
    protocol: {
      checks: protocol,
      profile: party.profile,
      profile_hash: profile.hash,
      result: resultOf(protocol),
    },
    trust: { checks: trust, policy_version: 'svc-trust-v1', result: resultOf(trust) },
    evidence: {
      ...trustConfig,
      ...(resolution && { issuer_resolution: resolution }),
      ...(consulted && { status: consulted }),
      ...(decision === 'ALLOW' && hasBudget(left[0]) && { consumption: consumptionOf(left[0], balances) }),
    },
    ...(P3 === true && {
      principal: { id: grant.issuer, verification: T2 === true ? 'domain' : 'unverified' },
      grant_id: grant.id,
      expires_at: grant.validUntil,
      authority: decision === 'ALLOW' ? left[0] : null,
    }),
    ...(P9 === true && { agent: proof.agent }),
    ...(P9 === true &&
      P15 === true && { request_hash: sha256(canonical({ action, htm: proof.htm, htu: proof.htu })) }),
  };
}

function attempt(read) {
  try {
    return [read(), null];
  } catch (fault) {
    return [null, fault.message];
  }
}

/** For a fact that was not found: false if it is known to be absent, otherwise undecided. */
function absent(answer) {
  return answer === 'absent' ? false : unavailable;
}

function resultOf(checks) {
  return Object.values(checks).every((outcome) => outcome === true) ? 'PASS' : 'FAIL';
}
