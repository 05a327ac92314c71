/** A Receipt for readers: the decision and its subjects, the 24 checks, and the signed text taken apart. */
import type { Receipt } from '@svc/receipts';
import type { ComponentChildren } from 'preact';
import { Authority } from './authority.tsx';
import { ClaimBadge, DecisionBadge } from './badge.tsx';
import { JwsView } from './jws-view.tsx';
import { Pipeline } from './pipeline.tsx';

export interface ReceiptViewProps {
  /** Null where its form is not one that can be shown. */
  readonly receipt: Receipt | null;
  readonly jws: string;
  /** The signature was verified in this tab. */
  readonly proven: boolean;
}

export const ReceiptView = ({ receipt, jws, proven }: ReceiptViewProps) => (
  <>
    {receipt !== null && (
      <>
        <DecisionCard receipt={receipt} proven={proven} />
        <section class={proven ? 'card' : 'card claimed'} aria-label="The 24 checks">
          <div class="card-head">
            <h2>The 24 checks</h2>
            <p>{proven ? countOutcomes(receipt) : `claims ${countOutcomes(receipt)}`}</p>
          </div>
          <Pipeline
            outcomes={outcomesOf(receipt)}
            reason={receipt.reason}
            profile={receipt.protocol.profile}
          />
        </section>
      </>
    )}
    <SignedTextCard jws={jws} proven={proven} />
  </>
);

export const DecisionCard = ({
  receipt,
  proven,
}: {
  readonly receipt: Receipt;
  readonly proven: boolean;
}) => (
  <section class="card" aria-label="Decision">
    <div class="card-head">
      <h2>
        {proven ? <DecisionBadge decision={receipt.decision} /> : <ClaimBadge decision={receipt.decision} />}{' '}
        {receipt.reason !== null && <code>{receipt.reason}</code>}
      </h2>
      {!proven && <p>Not proven</p>}
    </div>
    <ReceiptFacts receipt={receipt} />
  </section>
);

export const SignedTextCard = ({ jws, proven }: { readonly jws: string; readonly proven: boolean }) => (
  <section class="card" aria-label="Signed text">
    <div class="card-head">
      <h2>Decoded</h2>
      <p>{proven ? 'As the service signed it' : 'Not proven: anybody could have written this'}</p>
    </div>
    <JwsView jws={jws} name="Receipt" />
  </section>
);

export const outcomesOf = ({ protocol, trust }: Receipt) => ({ ...protocol.checks, ...trust.checks });

/** `22 passed, 1 failed, 1 skipped`. */
export const countOutcomes = (receipt: Receipt): string => {
  const outcomes = Object.values(outcomesOf(receipt));
  const count = (wanted: boolean | 'skipped') => outcomes.filter((outcome) => outcome === wanted).length;
  const [passed, failed, skipped] = [count(true), count(false), count('skipped')];
  return [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
};

export const ReceiptFacts = ({ receipt }: { readonly receipt: Receipt }) => {
  const { principal, agent, authority, grant_id: grantId, expires_at: expiresAt } = receipt;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Receipt', receipt.receipt_id],
    ['Decided at', receipt.evaluated_at],
    ['Relying party', receipt.relying_party],
    ['Principal', principal?.id ?? 'not authenticated'],
    ['Agent', agent ?? 'not authenticated'],
    ['Grant', grantId],
    ['Grant ends', expiresAt],
    ['Authority used', authority ? <Authority of={authority} /> : undefined],
    ['Profile', receipt.protocol.profile],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <>
            <dt key={name}>{name}</dt>
            <dd key={`${name} is`}>{typeof value === 'string' ? <code>{value}</code> : value}</dd>
          </>
        ),
      )}
    </dl>
  );
};
