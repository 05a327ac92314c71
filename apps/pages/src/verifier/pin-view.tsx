/** The service's DID document that everything rests on: whose it is, where it came from, and how to give another. */
import { isJsonObject, parseStrictJson } from '@svc/protocol';
import { useState } from 'preact/hooks';
import { JsonView } from '../shared/json-view.tsx';
import { ChooseFile, readFile } from './intake.tsx';
import { readPresentedText } from './presented.ts';

export type PinnedDocument =
  | { readonly state: 'loading' | 'missing' }
  | { readonly state: 'failed'; readonly problem: string }
  | { readonly state: 'pinned'; readonly text: string; readonly from: 'service' | 'you' | 'example' };

export interface PinViewProps {
  readonly pin: PinnedDocument;
  readonly onGiven: (text: string) => void;
  readonly standsAlone: boolean;
  /** What is shown was signed by another service than the pinned one. */
  readonly isOfAnother: boolean;
}

export const PinView = ({ pin, onGiven, standsAlone, isOfAnother }: PinViewProps) => {
  const [problem, setProblem] = useState<string | null>(null);
  const give = (text: string) => {
    const isDocument = readPresentedText(text).kind === 'did-document';
    setProblem(isDocument ? null : 'This is not a DID document.');
    if (isDocument) onGiven(text);
  };
  return (
    <section class="card" aria-label="Service document">
      <div class="card-head">
        <h2>Service document</h2>
        <p>Whose signature counts</p>
      </div>
      <div class="pin-state">{describe(pin)}</div>
      {isOfAnother && (
        <p class="note note-warn" role="status">
          This Receipt names another service. Give that service’s document below, and it is checked against
          it.
        </p>
      )}
      {pin.state === 'pinned' && (
        <details class="plain-details">
          <summary>Its keys</summary>
          <JsonView value={parseOrText(pin.text)} label="Service document" />
        </details>
      )}
      <details class="plain-details" open={isOfAnother || (standsAlone && pin.state !== 'pinned')}>
        <summary>{pin.state === 'pinned' ? 'Use another document' : 'Give the document'}</summary>
        <div class="pin-give">
          <label class="field">
            <span>The service’s /.well-known/did.json, from a channel that you trust</span>
            <textarea
              rows={4}
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget: { value } }) => (value === '' ? setProblem(null) : give(value))}
            />
          </label>
          <ChooseFile
            label="Choose did.json"
            onFiles={async (files) => {
              for (const file of files ?? []) give((await readFile(file)) ?? '');
            }}
          />
          {problem !== null && <p class="note note-bad">{problem}</p>}
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
};

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
    case 'failed':
      return <p class="note note-bad">It could not be fetched: {pin.problem}</p>;
    case 'pinned':
      return (
        <dl class="facts">
          <dt>Pinned</dt>
          <dd>
            <code>{didOf(pin.text)}</code>
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
