/** The result in one plain sentence, for people who read nothing else. */
import type { Failure, Receipt, Verdict } from '@svc/receipts';
import type { Difference } from '@svc/receipts/audit';

interface Verified {
  readonly receipt: Receipt | null;
  readonly kid: string | null;
  readonly failures: readonly Failure<string>[];
  /** Only the Receipt or bundle itself says who signed it, or when. */
  readonly isOnOwnWord: boolean;
  /** The day in whose checkpoint the Receipt is included. */
  readonly day: string | null;
  /** False if the service was asked for the proof of inclusion and showed none. */
  readonly isShown?: boolean;
}

export const summarize = (
  verdict: Verdict,
  { receipt, kid, failures, isOnOwnWord, day, isShown = true }: Verified,
): string => {
  if (verdict === 'invalid') return `Do not rely on it: ${messageOf(failures)}`;
  if (receipt === null || (verdict === 'undecided' && !isOnOwnWord))
    return `It could not be decided: ${messageOf(failures)}`;
  if (isOnOwnWord)
    return `It agrees with itself and says that it is of ${serviceOf(kid)}, but nothing that you trust says so: give that service's DID document with --did-document.`;
  const unshown = isShown ? '' : ', but did not show that it is in the checkpoint of its day';
  const published = day === null ? unshown : `, and has it in the checkpoint of ${day}`;
  return `It is genuine: ${serviceOf(kid)} ${said(receipt)}${published}.`;
};

export const summarizeAudit = (
  verdict: Verdict,
  {
    receipt,
    kid,
    failures,
    differences,
  }: Omit<Verified, 'isOnOwnWord' | 'day' | 'isShown'> & { readonly differences: readonly Difference[] },
): string => {
  if (differences.length > 0)
    return `The engine decides otherwise: ${differences.length} ${differences.length === 1 ? 'member differs' : 'members differ'} from what the Receipt says.`;
  if (verdict === 'invalid') return `Do not rely on it: ${messageOf(failures)}`;
  if (verdict === 'undecided' || receipt === null) return `It could not be decided: ${messageOf(failures)}`;
  return `It is genuine, and the engine decides the same from what was presented: ${serviceOf(kid)} ${said(receipt)}.`;
};

const serviceOf = (kid: string | null): string => kid?.split('#', 1)[0] ?? 'its service';

const said = ({
  decision,
  reason,
  agent,
  relying_party: relyingParty,
  evaluated_at: at,
}: Receipt): string => {
  const who = agent === undefined ? 'an Agent that was not authenticated' : agent;
  return decision === 'ALLOW'
    ? `allowed ${who} this action at ${relyingParty} at ${at}`
    : `denied ${who} this action at ${relyingParty} at ${at} (${reason})`;
};

const messageOf = (failures: readonly Failure<string>[]): string => {
  const missing = failures.filter(({ code }) => code === 'missing-evidence').length;
  if (missing > 0 && missing === failures.length)
    return `${missing} ${missing === 1 ? 'piece' : 'pieces'} of evidence, named above, must be given too.`;
  const [first, ...others] = failures;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${(first?.message ?? 'something is missing').replace(/[.]$/, '')}${more}.`;
};
