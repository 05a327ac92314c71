/** Shown where the period has no decisions: how to make the first one. */
import type { ComponentChildren } from 'preact';
import type { Session } from './session.ts';

export const Empty = ({ role, days }: { readonly role: Session['role']; readonly days: number }) => (
  <section class="card" aria-labelledby="nothing-yet">
    <div class="card-head">
      <h2 id="nothing-yet">No decision in these {days} days</h2>
    </div>
    <p>{nextStep(role)}</p>
  </section>
);

const nextStep = (role: Session['role']): ComponentChildren => {
  switch (role) {
    case 'rp':
      return (
        <>
          Ask for the first one: pass on what an Agent sent you, with this key, as in{' '}
          <a href="docs#tag/Verify/operation/verify">POST /verify</a>. It stands here within a second.
        </>
      );
    case 'principal':
      return (
        <>
          Nobody has presented a Grant of yours.{' '}
          <a href="docs#tag/Grants/operation/allocateGrant">Reserve one</a>, sign it, and hand it to your
          Agent.
        </>
      );
    case 'org:read':
    case 'org:admin':
      return (
        <>
          No relying party of the org has asked. Its members ask with keys of their own, as in{' '}
          <a href="docs#tag/Verify/operation/verify">POST /verify</a>.
        </>
      );
    default:
      return 'Nobody has asked this service for a decision. As soon as somebody does, it is counted here.';
  }
};
