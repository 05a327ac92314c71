import { PROFILES, portableCrypto, sha256Of, TRUST_CONFIG, trustConfigDocument } from '@svc/protocol';
import { budgeted, capabilityOf } from '@svc/testkit/receipts/budgets';
import { buildWorld, resign, serviceDocument } from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { verifyReceipt } from '../index.ts';
import { PROTOCOL_CHECKS, PUBLISHED_PROFILES, PUBLISHED_TRUST_CONFIGS, TRUST_CHECKS } from './published.ts';

/** The checks that depend on a fact outside the request. The laws of verification would reveal a missing one. */
const LOOK_UPS = ['T1', 'P2', 'P6', 'T5'];
const MORE_WITH_BUDGETS = ['P19'];

const BUDGET = budgeted([capabilityOf({ maxTotal: 100_000, maxUses: 3 })]);

describe('the published profiles and trust configurations', () => {
  it.each(Object.entries(PROFILES))(
    'have %s of the engine as the latest',
    (id, { hash, profile, checks }) => {
      const [latest] = PUBLISHED_PROFILES[id] ?? [];
      // After an intended change of the profile document: add its table and hash in front, and keep the old ones.
      expect(latest?.hash).toBe(hash);
      expect(latest?.budgets).toBe(profile.budgets);
      const lookUps = [...LOOK_UPS, ...(profile.budgets ? MORE_WITH_BUDGETS : [])];
      expect(latest?.checks).toEqual(
        checks.map((check) => ({
          id: check.id,
          requires: [...check.requires],
          reasons: [...check.reasons],
          looksUp: lookUps.includes(check.id),
        })),
      );
    },
  );

  it('include the trust configuration of the engine', () => {
    expect(PUBLISHED_TRUST_CONFIGS[TRUST_CONFIG.version]).toEqual({
      hash: sha256Of(portableCrypto, trustConfigDocument(TRUST_CONFIG)),
      didDocumentMaxAgeSeconds: TRUST_CONFIG.didDocumentMaxAgeSeconds,
      statusListMaxAgeSeconds: TRUST_CONFIG.statusListMaxAgeSeconds,
    });
  });

  // Existing Receipts contain these hashes, so none may ever be removed.
  it.each([
    ['svc-base-v1', '5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950', {}],
    ['svc-base-v2', '6177b922e8dd4dd844ff6a0d3235660ce3a3ed62e59858051a1de5096dc9fd05', BUDGET],
  ])(
    'include the previous version of %s, and a Receipt under it is verified',
    async (profile, hex, setting) => {
      const { body } = await buildWorld(setting);
      expect(body.protocol.profile).toBe(profile);
      const receipt = await resign(body, ({ protocol }) => {
        protocol.profile_hash = `sha256:${hex}`;
      });
      expect(verifyReceipt(receipt, serviceDocument)).toMatchObject({ ok: true, decision: 'ALLOW' });
    },
  );

  it('are named with their hashes in the failure of a Receipt with another profile hash', async () => {
    const { body } = await buildWorld();
    const receipt = await resign(body, (draft) => {
      draft.protocol.profile_hash = draft.grant_hash;
    });
    const hashes = PUBLISHED_PROFILES['svc-base-v1']?.map(({ hash }) => hash).join(' or ');
    expect(verifyReceipt(receipt, serviceDocument)).toMatchObject({
      failures: [
        {
          message: `the hash of svc-base-v1 must be ${hashes}, not ${body.grant_hash}, as far as is known to this version; a later one may know it`,
        },
      ],
    });
  });

  it('name the checks that a Receipt of any profile may have, those of every table apart', () => {
    const tables = Object.values(PUBLISHED_PROFILES).flat();
    const named = tables.map(({ checks }) => checks.map(({ id }) => id));
    const { inEach, inSome } = {
      inEach: [...PROTOCOL_CHECKS.inEach, ...TRUST_CHECKS.inEach],
      inSome: [...PROTOCOL_CHECKS.inSome, ...TRUST_CHECKS.inSome],
    };
    expect([...inEach, ...inSome].sort()).toEqual([...new Set(named.flat())].sort());
    for (const ids of named) expect(ids).toEqual(expect.arrayContaining(inEach));
    for (const id of inSome) expect(named.some((ids) => !ids.includes(id))).toBe(true);
  });
});
