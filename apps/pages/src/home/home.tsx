/**
 * `/`: what the service is, and where each of five kinds of reader goes next. Rendered at build; it needs no script.
 */
import type { ComponentChildren } from 'preact';
import { Shell } from '../shared/shell.tsx';

export const Home = () => (
  <Shell page="home">
    <section class="card" aria-labelledby="how">
      <div class="card-head">
        <h2 id="how">How one action is decided</h2>
      </div>
      <ol class="way">
        <Step who="Principal" gives="Grant">
          signs what its Agent may do: which actions, up to which amount, until when. It can be taken back at
          any moment.
        </Step>
        <Step who="Agent" gives="Proof">
          signs each single request with its own key, and sends Grant and Proof along.
        </Step>
        <Step who="Relying party" gives="Action">
          says in its own words what it is about to do, and asks before it does it.
        </Step>
        <Step who="This service" gives="Receipt">
          runs 24 checks and signs ALLOW or DENY, with the outcome of each. If it cannot be sure, it does not
          allow.
        </Step>
      </ol>
    </section>
    <section class="people" aria-labelledby="people">
      <h2 id="people">Where to go</h2>
      <ul>
        <Person is="You run a shop or an API" wants="and an Agent knocks.">
          <li class="sandbox-only">
            <a href="playground">See an Agent allowed, and five cheats stopped</a>
          </li>
          <li>
            <a href="guide/start/relying-party">Start in five minutes</a>
          </li>
          <li>
            <a href="docs#tag/Verify/operation/verify">Ask: POST /verify</a>
          </li>
          <li>
            <a href="dashboard">Look at your decisions</a>
          </li>
        </Person>
        <Person is="You give authority" wants="to an Agent that acts for you.">
          <li>
            <a href="guide/start/principal">Start in five minutes</a>
          </li>
          <li>
            <a href="docs#tag/Grants">Reserve, sign and list Grants</a>
          </li>
          <li>
            <a href="docs#tag/Grants/operation/revokeGrant">Take one back</a>
          </li>
        </Person>
        <Person is="You build an Agent" wants="that buys, books or calls for somebody.">
          <li class="sandbox-only">
            <a href="playground">Get a Grant and a Proof to try</a>
          </li>
          <li>
            <a href="guide/start/agent">Start in five minutes</a>
          </li>
          <li>
            <a href="docs#section/Getting-started">What to send along</a>
          </li>
        </Person>
        <Person is="You hold a Receipt" wants="and want to know whether it is true.">
          <li>
            <a href="guide/start/auditor">Start in five minutes</a>
          </li>
          <li>
            <a href="verify-receipt">Verify it in this browser</a>
          </li>
          <li>
            <a href="transparency">Find it in the log of closed days</a>
          </li>
          <li>
            <a href="verify-receipt-offline.html" download="verify-receipt.html">
              Keep the verifier as one file
            </a>
          </li>
        </Person>
        <Person is="You operate this service" wants="or wire programs to it.">
          <li>
            <a href="guide/start/operator">Start in five minutes</a>
          </li>
          <li>
            <a href="docs">API reference</a>, <a href="openapi.json">openapi.json</a>
          </li>
          <li>
            <a href=".well-known/did.json">The service’s keys</a>
          </li>
          <li>
            <a href="metrics">Public numbers</a>
          </li>
        </Person>
      </ul>
    </section>
  </Shell>
);

const Step = ({
  who,
  gives,
  children,
}: {
  readonly who: string;
  readonly gives: string;
  readonly children: ComponentChildren;
}) => (
  <li>
    <h3>{who}</h3>
    <p>{children}</p>
    <p class="gives">{gives}</p>
  </li>
);

const Person = ({
  is,
  wants,
  children,
}: {
  readonly is: string;
  readonly wants: string;
  readonly children: ComponentChildren;
}) => (
  <li class="card">
    <div>
      <h3>{is}</h3>
      <p class="soft">{wants}</p>
    </div>
    <ul>{children}</ul>
  </li>
);
