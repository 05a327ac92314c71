/**
 * The service's DID document, on which every check depends: whose it is, where it came from, and how to supply another.
 */
import { isJsonObject, parseStrictJson } from '@svc/protocol';
import { JsonView } from '../shared/json-view.tsx';
import { visible } from '../shared/resource.tsx';
import { ChooseFile, readFile } from './intake.tsx';

export type PinnedDocument =
  /** `refused`: the text that was given is not a DID document. */
  | { readonly state: 'loading' | 'missing' | 'refused' }
  | { readonly state: 'failed'; readonly problem: string }
  | { readonly state: 'pinned'; readonly text: string; readonly from: 'service' | 'you' | 'example' };

export interface PinViewProps {
  readonly pin: PinnedDocument;
  /** Null for a file that cannot be read. */
  readonly onGiven: (text: string | null) => void;
  readonly standsAlone: boolean;
  /** The given document has the `id` of the one that the page fetched, but other keys. */
  readonly hasOtherKeys: boolean;
  /** The Receipt that is shown was signed by another service than the pinned one. */
  readonly isOfAnother: boolean;
}

export const PinView = ({ pin, onGiven, standsAlone, hasOtherKeys, isOfAnother }: PinViewProps) => (
  <section class="card" aria-label="Service document">
    <div class="card-head">
      <h2>Service document</h2>
      <p>Whose signature counts</p>
    </div>
    <div class="pin-state">{describe(pin)}</div>
    {hasOtherKeys && (
      <p class="note note-bad" role="alert">
        This document names the service that serves this page, and has other keys than that service publishes,
        or other times for them. Unless it is from a channel that you trust, a forged Receipt can be valid
        under it.
      </p>
    )}
    {isOfAnother && (
      <p class="note note-warn" role="status">
        This Receipt names another service. Give that service’s document below, and it is checked against it.
      </p>
    )}
    {pin.state === 'pinned' && (
      <details class="plain-details">
        <summary>Its keys</summary>
        <JsonView value={parseOrText(pin.text)} label="Service document" />
      </details>
    )}
    <details
      class="plain-details"
      open={isOfAnother || pin.state === 'refused' || (standsAlone && pin.state !== 'pinned')}
    >
      <summary>{pin.state === 'pinned' ? 'Use another document' : 'Give the document'}</summary>
      <div class="pin-give">
        <label class="field">
          <span>The service’s /.well-known/did.json, from a channel that you trust</span>
          <textarea
            rows={4}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget: { value } }) => onGiven(value)}
          />
        </label>
        <ChooseFile
          label="Choose did.json"
          onFiles={async (files) => {
            for (const file of files ?? []) onGiven((await readFile(file)) || null);
          }}
        />
      </div>
    </details>
    {!standsAlone && (
      <p class="soft">
        For a check without any service, keep{' '}
        <a href="verify-receipt-offline.html" download="verify-receipt.html">
          this page as one file
        </a>{' '}
        and open it from disk.
      </p>
    )}
  </section>
);

const SOURCES = {
  service: 'the service that serves this page',
  you: 'you',
  example: 'the example, whose service does not exist',
} as const;

const describe = (pin: PinnedDocument) => {
  switch (pin.state) {
    case 'loading':
      return <p class="soft">Fetching it from this service …</p>;
    case 'missing':
      return <p class="note note-warn">Not there yet. Without it, the signature cannot be judged.</p>;
    case 'refused':
      return (
        <p class="note note-bad" role="alert">
          This is not a DID document, so no signature is judged. Give another, or clear the box.
        </p>
      );
    case 'failed':
      return <p class="note note-bad">It could not be fetched: {pin.problem}</p>;
    case 'pinned':
      return (
        <dl class="facts">
          <dt>Pinned</dt>
          <dd>
            <code>{visible(didOf(pin.text))}</code>
          </dd>
          <dt>From</dt>
          <dd>{SOURCES[pin.from]}</dd>
        </dl>
      );
  }
};

const parseOrText = (text: string): unknown => {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : text;
};

const didOf = (text: string): string => {
  const value = parseOrText(text);
  const id = isJsonObject(value as never) ? (value as { id?: unknown }).id : undefined;
  return typeof id === 'string' ? id : 'a document without an id';
};
