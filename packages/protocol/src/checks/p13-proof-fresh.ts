/** P13: the Proof is fresh. Both ends of its window are included; times are compared in milliseconds (protocol §7). */
import { formatTimestamp } from '@svc/codec';
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p09ProofSignature } from './p09-proof-signature.ts';

export const p13ProofFresh = /* @__PURE__ */ defineCheck({
  id: 'P13',
  title: "the Proof's iat lies within the relying party's proof window, with the clock skew allowed ahead",
  cites: ['interface §Proof', 'protocol §7'],
  requires: [p09ProofSignature],
  reasons: ['PROOF_EXPIRED'],
  run: ({ P9: { proof } }, { nowMs, relyingParty, trust }) => {
    const iatMs = proof.iatSeconds * 1000;
    const earliestMs = nowMs - relyingParty.proofWindowSeconds * 1000;
    const latestMs = nowMs + trust.clockSkewSeconds * 1000;
    return demand(earliestMs <= iatMs && iatMs <= latestMs, 'PROOF_EXPIRED');
  },
});

export const p13Explained: ExplanationOf<typeof p13ProofFresh> = {
  compare: ({ P9: { proof } }, { nowMs, relyingParty, trust }) => {
    const after = (seconds: number) => formatTimestamp(nowMs + seconds * 1000);
    const [earliest, latest] = [after(-relyingParty.proofWindowSeconds), after(trust.clockSkewSeconds)];
    return one('iat of the Proof', timeOf(proof.iatSeconds), `${earliest} to ${latest}`);
  },
};

/** The last second that `formatTimestamp` can write. */
const LAST_SECOND = 253_402_300_799;

/**
 * A signed `iat` may be any integer. One outside the range of `formatTimestamp`, such as milliseconds, is shown
 * unchanged.
 */
const timeOf = (seconds: number): string =>
  seconds >= 0 && seconds <= LAST_SECOND ? formatTimestamp(seconds * 1000) : String(seconds);
