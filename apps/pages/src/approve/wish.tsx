/** What an approval would sign, and the outcome of a request that is decided. */
import type { AccessRequest, CheckedAccessRequest } from '@svc/sdk-principal';
import { formatInstant } from '../shared/describe.ts';
import { Resource } from '../shared/resource.tsx';
import { Deadline } from './deadline.tsx';
import { describeWish, findForeign, hasChosenName, hostingService, hostOf, nameOf } from './words.ts';

/** Seconds for which the Grant that an approval signs is valid. */
export const LIFETIME_SECONDS = 600;

export const Wish = ({
  request,
  checked: { action, receipt, signedAt },
}: {
  readonly request: AccessRequest;
  readonly checked: CheckedAccessRequest;
}) => {
  const foreign = findForeign(action.resource);
  const service = hostingService(request.relying_party, receipt.receipt);
  const name = nameOf(request.relying_party, service);
  return (
    <section class="card" aria-labelledby="wish">
      <h2 id="wish" class="wish">
        May your Agent {describeWish(action)} at <strong>{name}</strong>, once?
      </h2>
      {foreign !== null && (
        <p class="note note-warn">
          These characters are not of the Latin keyboard, and may look like others: <code>{foreign}</code>
        </p>
      )}
      <dl class="facts">
        <dt>{action.type === 'api:call' ? 'To which address' : 'For what'}</dt>
        <dd>
          <Resource text={action.resource} />
        </dd>
        {action.type === 'api:call' ? (
          <>
            <dt>Query and body</dt>
            <dd>are not part of what you approve: your Agent chooses both</dd>
          </>
        ) : (
          <>
            <dt>The amount as signed</dt>
            <dd>
              <code>{action.amount}</code> in the smallest unit of <code>{action.currency}</code>
            </dd>
          </>
        )}
        <dt>Who asks</dt>
        <dd>
          <code>{request.relying_party}</code>. {standingOf(request.relying_party, service)}
        </dd>
        <dt>Your Agent</dt>
        <dd>
          <code>{request.agent}</code>
        </dd>
        <dt>Why it was denied</dt>
        <dd>
          <code>{receipt.reason}</code>, under the Grant <code>{request.grant_id}</code>
        </dd>
        <dt>If you approve</dt>
        <dd>
          you sign a Grant for this Agent, at {name} alone,{' '}
          {action.type === 'api:call'
            ? `for a ${action.method} request to this address, with any query and any body`
            : 'for this and nothing else'}
          , once, for {LIFETIME_SECONDS / 60} minutes
        </dd>
        <dt>You can answer until</dt>
        <dd>
          <Deadline at={request.task.expires_at} />
        </dd>
      </dl>
      <ul class="compared">
        <li>
          Your Agent signed for exactly this, at {formatInstant(signedAt.toISOString())}: its signature was
          checked here.{action.type === 'api:call' && ' No query and no body is signed.'}
        </li>
        <li>
          The service denied exactly this: the signature of Receipt{' '}
          <a href={`verify-receipt#jws=${receipt.receipt}`}>{receipt.receipt_id}</a> was checked here, and it
          names that signed text by its hash.
        </li>
        <li>Relying party, Agent, Grant, resource, amount and currency above are read from these two.</li>
      </ul>
    </section>
  );
};

const standingOf = (did: string, service: string | null): string => {
  if (service !== null)
    return `A customer of ${service} has chosen this name, and nothing about who that is has been proven`;
  return hasChosenName(did)
    ? `It has proven the domain ${hostOf(did)}, or this service’s operator has registered it. The name behind the domain is its own choice, and nothing about that name has been proven`
    : 'It has proven its domain, or this service’s operator has registered it';
};

export const Decided = ({
  request: { task, result, reason, relying_party },
}: {
  readonly request: AccessRequest;
}) => (
  <section class="card" aria-labelledby="decided">
    <h2 id="decided">{HEADINGS[task.status]}</h2>
    {task.status === 'approved' && result !== null && (
      <p class="note note-good">
        <code>{relying_party}</code> has the Grant <code>{result.grant_id}</code>, which your Agent can use
        once until {formatInstant(result.approved_until)}. Until then you can{' '}
        <a class="plain-link" href="dashboard#view=grants">
          revoke it
        </a>
        .
      </p>
    )}
    {task.status === 'denied' && (
      <p>{reason === null ? 'No reason was given.' : `The reason given: ${reason}`}</p>
    )}
    {task.status === 'expired' && (
      <p>Nobody answered in time. If it is still wanted, the relying party asks again.</p>
    )}
    {task.status === 'cancelled' && <p>The relying party does not need it any more.</p>}
  </section>
);

const HEADINGS: Readonly<Record<AccessRequest['task']['status'], string>> = {
  pending: 'It waits',
  approved: 'Approved',
  denied: 'Rejected',
  expired: 'Expired',
  cancelled: 'Taken back',
};
