/** What `svc-receipt verify` and `audit` print. */
import { type Failure, formatSeconds, show } from '@svc/codec';
import type { Receipt, Verdict } from '@svc/receipts';
import type { Assumption, AuditResult } from '@svc/receipts/audit';
import type { Checkpoint, VerifiedAttestation } from '@svc/transparency';

import { line, type Paint, printable } from '../report.ts';

const HEADINGS = {
  valid: ['VALID', 'green'],
  invalid: ['INVALID', 'red'],
  undecided: ['COULD NOT DECIDE', 'yellow'],
} as const;

const heading = (verdict: Verdict, paint: Paint): string => {
  const [text, colour] = HEADINGS[verdict];
  return paint(text, colour);
};

const describeFailure = ({ code, message }: Failure<string>): string => `  - ${code}: ${printable(message)}`;

export interface Found {
  readonly receipt: Receipt | null;
  /** The id of the key that the Receipt names. */
  readonly kid: string | null;
  /** The service's attestation of the Receipt, which then decides instead of that key; else null. */
  readonly attestation: VerifiedAttestation | null;
  readonly checkpoint: Checkpoint | null;
  /** Why the service that was asked showed no proof of inclusion; null or absent if it did, or was not asked. */
  readonly inclusionNotShown?: string | null;
  /** What is proven by nothing but the bundle itself. */
  readonly assumed: readonly Assumption[];
  /** What `assumed` leaves unproven, as the heading says it before "NOT AUTHENTICATED". */
  readonly open?: string;
}

/** Headings for what agrees with itself, but vouches for its own service or keys, or for their times. */
const ON_OWN_WORD: Readonly<Record<Verdict, string>> = {
  valid: 'VALID, BUT',
  invalid: 'INVALID:',
  undecided: 'NOT DECIDED: IT AGREES WITH ITSELF, AND',
};

/** The output of `verify`. */
export const describeVerified = (
  verdict: Verdict,
  { receipt, kid, attestation, checkpoint, inclusionNotShown, assumed, open = 'ITS KEYS ARE' }: Found,
  failures: readonly Failure<string>[],
  summary: string,
  paint: Paint,
): string =>
  [
    assumed.length === 0
      ? heading(verdict, paint)
      : paint(`${ON_OWN_WORD[verdict]} ${open} NOT AUTHENTICATED`, 'yellow'),
    ...(receipt ? describeReceipt(receipt, kid, attestation) : []),
    ...(checkpoint ? [line('included in', describeCheckpoint(checkpoint))] : []),
    ...(inclusionNotShown ? [line('included in', `not shown: ${inclusionNotShown}`)] : []),
    ...failures.map(describeFailure),
    ...describeAssumed('  On its own word, which proves nothing:', assumed, paint),
    '',
    printable(summary),
  ].join('\n');

const describeCheckpoint = ({ day, root, tree_size: size }: Checkpoint): string =>
  `the checkpoint of ${day}: ${size} ${size === 1 ? 'Receipt' : 'Receipts'}, root ${root}`;

const describeAssumed = (title: string, assumed: readonly Assumption[], paint: Paint): string[] =>
  assumed.length === 0
    ? []
    : [
        paint(title, 'bold'),
        ...assumed.map(({ path, statement }) => `  * ${printable(statement)} (${path})`),
      ];

const describeReceipt = (
  receipt: Receipt,
  kid: string | null,
  attestation: VerifiedAttestation | null,
): string[] => {
  const { decision, reason, principal, agent, authority, grant_id: grantId, expires_at: expiresAt } = receipt;
  return [
    line('decision', reason === null ? decision : `${decision} ${reason}`),
    line('receipt', receipt.receipt_id),
    line('evaluated at', receipt.evaluated_at),
    line('relying party', receipt.relying_party),
    line(
      'principal',
      principal === undefined ? 'not authenticated' : `${principal.id} (${principal.verification})`,
    ),
    line('agent', agent ?? 'not authenticated'),
    ...(grantId === undefined ? [] : [line('grant', `${grantId}, until ${expiresAt}`)]),
    ...(authority ? [line('authority', describeAuthority(authority))] : []),
    line('checks', describeChecks(receipt)),
    ...(attestation === null
      ? [line('signed by', kid ?? '')]
      : [
          line('names as key', kid ?? ''),
          line('attested by', `${attestation.kid} at ${showTime(attestation.iat)}`),
        ]),
  ];
};

const END_OF_9999_SECONDS = 253_402_300_800;

/** Seconds since the epoch. A signer may write any number, so formatting it must not throw. */
const showTime = (seconds: number): string =>
  seconds >= 0 && seconds < END_OF_9999_SECONDS ? formatSeconds(seconds * 1000) : String(seconds);

const describeAuthority = ({ action, constraints, resources }: NonNullable<Receipt['authority']>): string =>
  `${action} ${JSON.stringify(constraints)} on ${resources === undefined ? 'every resource' : resources.join(', ')}`;

const describeChecks = (receipt: Receipt): string => {
  const { passed, failed, skipped } = checksOf(receipt);
  const all = passed.length + failed.length + skipped.length;
  return [
    `${passed.length} of ${all} passed`,
    ...(failed.length > 0 ? [`failed: ${failed.join(' ')}`] : []),
    ...(skipped.length > 0 ? [`skipped: ${skipped.join(' ')}`] : []),
  ].join('; ');
};

const checksOf = ({ protocol, trust }: Receipt) => {
  const all = { ...protocol.checks, ...trust.checks };
  const ids = Object.keys(all).sort(new Intl.Collator('en', { numeric: true }).compare);
  const having = (outcome: boolean | 'skipped') => ids.filter((id) => all[id] === outcome);
  return { passed: having(true), failed: having(false), skipped: having('skipped') };
};

/** Everything that the text says of a Receipt, for `--json`. */
export const factsOf = (
  receipt: Receipt | null,
  kid: string | null,
  attestation: VerifiedAttestation | null,
) => ({
  decision: receipt?.decision ?? null,
  reason: receipt?.reason ?? null,
  receipt_id: receipt?.receipt_id ?? null,
  evaluated_at: receipt?.evaluated_at ?? null,
  relying_party: receipt?.relying_party ?? null,
  principal: receipt?.principal ?? null,
  agent: receipt?.agent ?? null,
  grant_id: receipt?.grant_id ?? null,
  expires_at: receipt?.expires_at ?? null,
  authority: receipt?.authority ?? null,
  checks: receipt === null ? null : checksOf(receipt),
  kid,
  attestation: attestation && { kid: attestation.kid, iat: attestation.iat },
});

/** The output of `audit`. */
export const describeAudit = (
  verdict: Verdict,
  result: Pick<AuditResult, 'receipt' | 'kid' | 'attestation' | 'differences' | 'assumed'> & {
    readonly failures: readonly Failure<string>[];
  },
  summary: string,
  paint: Paint,
): string =>
  [
    heading(verdict, paint),
    ...result.failures.map(describeFailure),
    ...(result.receipt ? describeReceipt(result.receipt, result.kid, result.attestation) : []),
    ...result.differences.map(
      ({ path, expected, got }) =>
        `  - ${printable(path)} must be ${printable(showOr(expected))} by the engine, not ${printable(showOr(got))}`,
    ),
    ...describeAssumed("  On the service's word alone:", result.assumed, paint),
    '',
    printable(summary),
  ].join('\n');

const showOr = (value: unknown): string => (value === undefined ? 'absent' : show(value));
