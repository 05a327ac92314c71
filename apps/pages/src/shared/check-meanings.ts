/** The checks, described for readers. Conditions and order are the engine's (protocol §7). */
import { type AnyCheck, CHECKS, type CheckId, checksOf, isProfileId } from '@svc/protocol';

interface Meaning {
  /** Three or four words. */
  readonly name: string;
  readonly means: string;
}

const CHECK_MEANINGS: Readonly<Partial<Record<CheckId, Meaning>>> = {
  P1: {
    name: 'Grant well formed',
    means:
      'The Grant is a credential of exactly the form that this profile knows, and asks for nothing else.',
  },
  T1: {
    name: 'Issuer registered',
    means: 'Whoever issued the Grant is a Principal that this service knows.',
  },
  T2: {
    name: 'Issuer verified',
    means: 'The Principal has proved that the domain in its DID is its own.',
  },
  T3: {
    name: 'Key not compromised',
    means: 'Nobody has reported the key that signed the Grant as compromised.',
  },
  P2: {
    name: 'Issuer key found',
    means:
      'The key that the Grant names stands in the Principal’s DID document and was not retired before the Grant.',
  },
  P3: {
    name: 'Grant signature',
    means: 'The Principal signed this Grant, character for character. From here on its content is believed.',
  },
  P4: { name: 'Grant has begun', means: 'The time from which the Grant holds has come.' },
  P5: { name: 'Grant not expired', means: 'The time until which the Grant holds has not passed.' },
  P6: {
    name: 'Grant not revoked',
    means:
      'The Grant is the one that the service allocated and that was first allowed under its id, and its bit in the signed status list is 0.',
  },
  P7: {
    name: 'Grant audience',
    means: 'The Grant is for any relying party, or names the one that asks.',
  },
  P8: { name: 'Proof well formed', means: 'The Proof has exactly the form that the protocol gives it.' },
  P9: {
    name: 'Proof signature',
    means: 'The Agent signed this Proof with its own key. From here on its content is believed.',
  },
  P10: { name: 'Proof by the Agent', means: 'The Agent who signed is the one to whom the Grant was given.' },
  P11: { name: 'Proof for the Grant', means: 'The Proof was signed for this Grant and no other.' },
  P12: { name: 'Proof audience', means: 'The Proof was signed for the relying party that asks.' },
  P13: { name: 'Proof is fresh', means: 'The Proof was signed within the relying party’s time window.' },
  P15: {
    name: 'Action well formed',
    means: 'The relying party describes the Action in a form that is known.',
  },
  P14: {
    name: 'Proof for the Action',
    means: 'What the relying party is about to do is exactly what the Agent signed for.',
  },
  P16: { name: 'Kind of action', means: 'The Grant allows this kind of action at all.' },
  P17: {
    name: 'Constraints known',
    means: 'The Grant has no condition that the profile cannot check. An unknown one is never skipped.',
  },
  P18: { name: 'Currency', means: 'The Grant allows this currency.' },
  P19: { name: 'Amount', means: 'The amount is within what the Grant allows.' },
  P20: { name: 'Resource', means: 'The Grant’s patterns cover what the action is about.' },
  T5: {
    name: 'Proof not spent',
    means: 'No ALLOW has used this Proof before. It is asked last, so that only an ALLOW spends a Proof.',
  },
};

/** The description of a check. One without a description here is shown by its id; its rule is shown beside it. */
export const meaningOf = (id: CheckId): Meaning => CHECK_MEANINGS[id] ?? { name: id, means: '' };

/** The stages of an evaluation, and the check with which each begins. */
const STAGE_BEGINNINGS: readonly (readonly [name: string, first: CheckId])[] = [
  ['The Grant', 'P1'],
  ['The Proof', 'P8'],
  ['The Action', 'P15'],
  ['The authority', 'P16'],
  ['Once only', 'T5'],
];

interface Stage {
  readonly name: string;
  readonly ids: readonly CheckId[];
}

/** These checks, which are in the order of the engine, by stage. */
export const stagesOf = (checkIds: readonly CheckId[]): readonly Stage[] => {
  const begins = STAGE_BEGINNINGS.map(([, first]) => checkIds.indexOf(first));
  return STAGE_BEGINNINGS.map(([name], i) => ({ name, ids: checkIds.slice(begins[i], begins[i + 1]) }));
};

/** The checks that this profile runs; all checks if this version does not know the profile. */
export const checksRunBy = (profile: string | undefined): readonly AnyCheck[] =>
  isProfileId(profile) ? checksOf(profile) : CHECKS;
