import { sampled } from '@svc/testkit/sampled';
import { grantToken, honestScene, purchaseCapability, type Scene } from '@svc/vectors/src/scene.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseGrant } from './grant.ts';

const reasonOf = (...edits: readonly ((scene: Scene) => void)[]) => {
  const scene = honestScene();
  for (const edit of edits) edit(scene);
  const grant = parseGrant(grantToken(scene));
  return grant.ok ? null : grant.reason;
};

type Edit = (scene: Scene) => void;

const unsupported: Record<string, Edit> = {
  'another alg': (s) => {
    s.grant.header.alg = 'ES256';
  },
  crit: (s) => {
    s.grant.header.crit = [];
  },
  exp: (s) => {
    s.grant.payload.exp = 1;
  },
  'an unknown member': (s) => {
    s.grant.payload.name = 'x';
  },
  'an unknown subject member': (s) => {
    s.grant.subject.x = 1;
  },
  'an unknown status member': (s) => {
    s.grant.status.x = 1;
  },
  'another status type': (s) => {
    s.grant.status.type = 'X';
  },
  'another status purpose': (s) => {
    s.grant.status.statusPurpose = 'suspension';
  },
  'an unknown action': (s) => {
    s.grant.subject.capabilities = [purchaseCapability(), { action: 'x', constraints: {} }];
  },
  'several subjects': (s) => {
    s.grant.payload.credentialSubject = [];
  },
};

/** Applied after the unsupported edits, so that none of those undoes one of these. */
const malformed: Record<string, Edit> = {
  'another typ': (s) => {
    s.grant.header.typ = 'JWT';
  },
  'no kid': (s) => {
    s.grant.header.kid = undefined;
  },
  'another context': (s) => {
    s.grant.payload['@context'] = [];
  },
  'another type': (s) => {
    s.grant.payload.type = 'SvcGrant';
  },
  'another id': (s) => {
    s.grant.payload.id = 'x';
  },
  'another issuer': (s) => {
    s.grant.payload.issuer = 'acme.example';
  },
  'no end': (s) => {
    s.grant.payload.validUntil = undefined;
  },
  'a status without index': (s) => {
    s.grant.status.statusListIndex = undefined;
  },
  'a subject that is no object': (s) => {
    s.grant.payload.credentialSubject = 'did:key:z6Mk';
  },
  'an Agent that is no did:key': (s) => {
    delete s.grant.payload.credentialSubject;
    s.grant.subject.id = 'did:web:agent.example';
  },
  'no status': (s) => {
    s.grant.payload.credentialStatus = undefined;
  },
  'a status type that is no string': (s) => {
    s.grant.status.type = [];
  },
  'a status purpose that is no string': (s) => {
    s.grant.status.statusPurpose = ['revocation'];
  },
  'a Capability without action': (s) => {
    delete s.grant.payload.credentialSubject;
    s.grant.subject.capabilities = [{ constraints: {} }];
  },
  'an iss of another': (s) => {
    s.grant.payload.iss = 'did:web:mallory.example';
  },
  'a jti of another': (s) => {
    s.grant.payload.jti = 'x';
  },
  'a sub that is no string': (s) => {
    s.grant.payload.sub = 1;
  },
  'an iat that is no number': (s) => {
    s.grant.payload.iat = 'now';
  },
};

describe('parseGrant', () => {
  it('gives GRANT_MALFORMED if anything is malformed, whatever else is unsupported', () => {
    const some = (of: Record<string, Edit>, minLength: number) =>
      fc.uniqueArray(fc.constantFrom(...Object.keys(of)), { minLength, maxLength: 3 });
    fc.assert(
      fc.property(some(malformed, 1), some(unsupported, 0), (wrong, unknown) => {
        const edits = [...unknown.map((name) => unsupported[name]), ...wrong.map((name) => malformed[name])];
        expect(reasonOf(...edits.filter((edit) => edit !== undefined))).toBe('GRANT_MALFORMED');
      }),
      { numRuns: sampled({ quick: 80, deep: 400 }) },
    );
  });

  it('gives UNSUPPORTED_FEATURE if nothing is malformed and features are unknown', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...Object.keys(unsupported)), { minLength: 1 }), (names) => {
        const edits = names.map((name) => unsupported[name]).filter((edit) => edit !== undefined);
        expect(reasonOf(...edits)).toBe('UNSUPPORTED_FEATURE');
      }),
      { numRuns: sampled({ quick: 40, deep: 200 }) },
    );
  });

  it('keeps unknown constraint keys, such as __proto__', () => {
    const scene = honestScene();
    scene.grant.editPayload = (json) =>
      json.replace('"constraints":{', '"constraints":{"__proto__":{"x":1},');
    const grant = parseGrant(grantToken(scene));
    expect(grant.ok && Object.keys(grant.value.capabilities[0]?.constraints ?? {})).toEqual([
      '__proto__',
      'currency',
      'maxAmount',
    ]);
  });
});
