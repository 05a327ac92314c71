/** A verdict as a sentence: what it means and, where it is undecided, what would decide it. */
import type { Checked } from './check.ts';

export const saysOf = ({ verdict, parts }: Pick<Checked, 'verdict' | 'parts'>): string => {
  if (verdict === 'valid') return 'The service signed exactly this, and it agrees with itself.';
  if (verdict === 'invalid') return 'Do not rely on it. What is wrong is named below.';
  const codes = new Set(parts.flatMap(({ failures }) => failures.map(({ code }) => code)));
  const open = UNDECIDED.filter((one) => one.codes.some((code) => codes.has(code))).map(({ says }) => says);
  const isUnsigned = parts.some(
    ({ id, state, failures }) => id === 'document' && state === 'unchecked' && failures.length === 0,
  );
  return [...open, ...(isUnsigned || open.length === 0 ? [NO_DOCUMENT] : [])].join(' ');
};

const NO_DOCUMENT = 'It agrees with itself, but without the service’s document nobody can say who signed it.';

/** What each kind of failure leaves open, and what would decide it. */
const UNDECIDED: readonly { readonly codes: readonly string[]; readonly says: string }[] = [
  {
    codes: ['malformed-did-document'],
    says: 'The service’s document cannot be read, so nobody can say who signed it. Obtain the document again.',
  },
  {
    codes: ['unknown-key'],
    says: 'The service’s document does not have the key that is named, so no signature was checked: anybody can have written this. Obtain the document again, in case that it is older than the key.',
  },
  {
    codes: ['key-not-in-force'],
    says: 'The signature is right, but the key that made it had ended, or may have leaked. The bundle of this Receipt decides: download it again once the day of the Receipt is closed.',
  },
  {
    codes: ['unknown-profile', 'wrong-profile-hash', 'unknown-trust-config', 'wrong-trust-config-hash'],
    says: 'It was decided under rules that this page does not know. A later version of the page may know them.',
  },
  {
    codes: ['inclusion-pending'],
    says: 'The day of the Receipt is not closed yet. Ask for the bundle again later.',
  },
];
