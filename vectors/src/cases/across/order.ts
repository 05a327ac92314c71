/**
 * The first check that is false gives the reason of a DENY (protocol §7). In each case here several checks are false.
 * There are enough cases that no other order of the checks gives all of these reasons.
 */
import type { CheckId, ReasonCode } from '@svc/protocol';
import { apiCapability, type Members, NOW, purchaseCapability, type Scene } from '../../scene.ts';
import { STATUS_LISTS } from '../../status-lists.ts';
import { KEYS } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

type Spoil = readonly [reason: ReasonCode, edit: (s: Scene) => void];

const grantPayload = (members: Members) => (s: Scene) => {
  Object.assign(s.grant.payload, members);
};
const proofPayload = (members: Members) => (s: Scene) => {
  Object.assign(s.proof.payload, members);
};
const capability = (one: Members) => (s: Scene) => {
  s.grant.subject.capabilities = [one];
};

/** For each check, an edit that makes it false and does not affect the others. */
const SPOIL = {
  P1: [
    'GRANT_MALFORMED',
    (s) => {
      s.grant.header.typ = 'JWT';
    },
  ],
  T1: [
    'ISSUER_UNKNOWN',
    (s) => {
      s.answers.principal = 'absent';
    },
  ],
  T2: [
    'ISSUER_UNVERIFIED',
    (s) => {
      s.principal.verification = 'unverified';
    },
  ],
  T3: [
    'ISSUER_KEY_COMPROMISED',
    (s) => {
      s.principal.key = { state: 'compromised', since: NOW };
    },
  ],
  P2: [
    'ISSUER_KEY_NOT_FOUND',
    (s) => {
      s.document.assertionMethod = [];
    },
  ],
  P3: [
    'GRANT_SIGNATURE_INVALID',
    (s) => {
      s.grant.key = KEYS.otherPrincipal;
    },
  ],
  P4: ['GRANT_NOT_YET_VALID', grantPayload({ validFrom: '2026-11-20T10:00:01Z' })],
  P5: ['GRANT_EXPIRED', grantPayload({ validUntil: '2026-11-20T10:00:00Z' })],
  P6: [
    'AUTHORITY_REVOKED',
    (s) => {
      const { hash, validFrom } = STATUS_LISTS.revoking;
      Object.assign(s.status, { revoked: true, credential_hash: hash, valid_from: validFrom });
    },
  ],
  P7: [
    'AUDIENCE_MISMATCH',
    (s) => {
      s.grant.subject.audience = ['did:web:other.example'];
    },
  ],
  P8: [
    'PROOF_MALFORMED',
    (s) => {
      s.proof.header.typ = 'jwt';
    },
  ],
  P9: [
    'PROOF_SIGNATURE_INVALID',
    (s) => {
      s.proof.key = { ...KEYS.agent, sign: KEYS.otherAgent.sign };
    },
  ],
  P10: [
    'PROOF_AGENT_MISMATCH',
    (s) => {
      s.proof.key = KEYS.otherAgent;
    },
  ],
  P11: ['PROOF_GRANT_MISMATCH', proofPayload({ grant_id: 'urn:svc:grant:01KAKB8WG00000000000000000' })],
  P12: ['PROOF_AUDIENCE_MISMATCH', proofPayload({ aud: 'did:web:other.example' })],
  P13: ['PROOF_EXPIRED', proofPayload({ iat: Date.parse(NOW) / 1000 - 61 })],
  P15: [
    'ACTION_MALFORMED',
    (s) => {
      s.presentedAction = { ...s.action, note: 'gift' };
    },
  ],
  P14: [
    'PROOF_ACTION_MISMATCH',
    (s) => {
      s.presentedAction = { ...s.action, resource: 'order/1002' };
    },
  ],
  P16: ['ACTION_NOT_AUTHORIZED', capability(apiCapability())],
  P17: ['UNKNOWN_CONSTRAINT', capability(purchaseCapability({ merchantCategory: '5411' }))],
  P18: ['CURRENCY_NOT_AUTHORIZED', capability(purchaseCapability({ currency: 'EUR' }))],
  P19: ['AMOUNT_EXCEEDS_AUTHORITY', capability(purchaseCapability({ maxAmount: 1 }))],
  P20: ['RESOURCE_NOT_AUTHORIZED', capability(purchaseCapability({}, { resources: ['cart/**'] }))],
} satisfies Partial<Record<CheckId, Spoil>>;

type Spoiled = keyof typeof SPOIL;

const AUTHORITY = ['P16', 'P17', 'P18', 'P19', 'P20'] as const;

/** The first check that is false, and others that are. A check and one that it requires cannot both be false. */
const TOGETHER: readonly (readonly [first: Spoiled, ...more: Spoiled[]])[] = [
  ...(['P1', 'T1', 'T3', 'P2', 'P3'] as const).flatMap(
    (first) =>
      [
        [first, 'P8', 'P15'],
        [first, 'P9', 'P15'],
        [first, 'P12', 'P13', 'P14'],
      ] as const,
  ),
  ['T2', 'P2', 'P8', 'P15'],
  ['T2', 'P3', 'P9', 'P15'],
  ['T2', 'P4', 'P6', 'P7', 'P10', 'P11', 'P12', 'P13', 'P14', 'P16'],
  ['T2', 'P5', 'P6', 'P7', 'P8', 'P15'],
  ['P4', 'P6', 'P7', 'P9', 'P15'],
  ['P5', 'P6', 'P7', 'P8', 'P20'],
  ['P6', 'P7', 'P8', 'P15'],
  ['P7', 'P8', 'P15'],
  ['P7', 'P9', 'P16'],
  ['P7', 'P10', 'P11', 'P12', 'P13', 'P14', 'P20'],
  ['P8', 'P15'],
  ...AUTHORITY.map((last) => ['P8', last] as const),
  ['P9', 'P15'],
  ...AUTHORITY.map((last) => ['P9', last] as const),
  ['P10', 'P11', 'P12', 'P13', 'P15'],
  ['P11', 'P12', 'P13', 'P14', 'P16'],
  ['P12', 'P13', 'P14', 'P17'],
  ['P13', 'P15'],
  ['P13', 'P14', 'P18'],
  ...AUTHORITY.map((last) => ['P14', last] as const),
];

const named = (check: string): string =>
  check.toLowerCase().replace(/\d+/, (digits) => digits.padStart(2, '0'));

export const cases: readonly VectorCase[] = TOGETHER.map(([first, ...more]) => {
  const all = [first, ...more];
  return deny(
    SPOIL[first][0],
    `order-${all.map(named).join('-')}`,
    `the reason is that of ${first}, the first that is false`,
    Object.fromEntries(all.map((check) => [check, false])),
    (s) => {
      for (const check of all) SPOIL[check][1](s);
    },
  );
});
