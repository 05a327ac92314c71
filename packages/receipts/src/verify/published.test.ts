import { CHECKS, PROFILES, portableCrypto, sha256Of, TRUST_CONFIG, trustConfigDocument } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_CHECKS, PUBLISHED_PROFILES, PUBLISHED_TRUST_CONFIGS, TRUST_CHECKS } from './published.ts';

/** The checks that rest on a fact from outside the request; the laws of verification would find one left out. */
const LOOK_UPS = ['T1', 'P2', 'P6', 'T5'];
const MORE_WITH_BUDGETS = ['P19'];

describe('what is published', () => {
  it.each(Object.entries(PROFILES))('begins with %s as the engine has it', (id, { hash, profile }) => {
    const [latest] = PUBLISHED_PROFILES[id] ?? [];
    // After a deliberate change of the profile document: put its table and hash in front, and keep the old ones.
    expect(latest?.hash).toBe(hash);
    expect(latest?.budgets).toBe(profile.budgets);
    const lookUps = [...LOOK_UPS, ...(profile.budgets ? MORE_WITH_BUDGETS : [])];
    expect(latest?.checks).toEqual(
      CHECKS.map((check) => ({
        id: check.id,
        requires: [...check.requires],
        reasons: [...check.reasons],
        looksUp: lookUps.includes(check.id),
      })),
    );
  });

  it('has the trust configuration of the engine', () => {
    expect(PUBLISHED_TRUST_CONFIGS[TRUST_CONFIG.version]).toEqual({
      hash: sha256Of(portableCrypto, trustConfigDocument(TRUST_CONFIG)),
      didDocumentMaxAgeSeconds: TRUST_CONFIG.didDocumentMaxAgeSeconds,
      statusListMaxAgeSeconds: TRUST_CONFIG.statusListMaxAgeSeconds,
    });
  });

  it('names exactly the 24 checks', () => {
    expect([...PROTOCOL_CHECKS, ...TRUST_CHECKS].sort()).toEqual(CHECKS.map(({ id }) => id).sort());
  });
});
