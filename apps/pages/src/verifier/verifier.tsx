/** The verifier page. Everything happens in this tab: what the user drops or pastes is never sent anywhere. */
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { OwnDocument } from '../shared/own-service-document.ts';
import { ReceiptView } from '../shared/receipt-view.tsx';
import { Shell } from '../shared/shell.tsx';
import { type FetchDocument, useOwnDocument } from '../shared/use-own-document.ts';
import { type Checked, checkBundle, checkReceipt } from './check.ts';
import example from './example.json';
import { Intake } from './intake.tsx';
import { hasOtherKeys } from './other-keys.ts';
import { PartsView } from './parts-view.tsx';
import { type PinnedDocument, PinView } from './pin-view.tsx';
import { type PresentedItem, readPresentedText } from './presented.ts';
import './verifier.css';

export interface VerifierProps {
  /** Fetches the DID document of the service that served the page; null where no service did. */
  readonly fetchDocument: FetchDocument | null;
}

export const Verifier = ({ fetchDocument }: VerifierProps) => {
  const [text, setText] = useState('');
  const { document: fetched, problem, ask } = useOwnDocument(fetchDocument);
  const own = pinnedOf(fetched, fetchDocument === null ? 'missing' : 'loading', problem);
  /** Replaces the one that the page fetched by itself. */
  const [given, setGiven] = useState<PinnedDocument | null>(null);
  const pin = given ?? own;

  /** The example's document is used only for the example. */
  const show = (next: string) => {
    setGiven((before) => (before?.state === 'pinned' && before.from === 'example' ? null : before));
    setText(next);
  };
  useLayoutEffect(() => {
    const onChange = () => {
      const jws = jwsInAddress();
      if (jws !== '') show(jws);
    };
    onChange();
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);

  /**
   * Reads a file, which may be a stranger's. It never chooses whose signature is accepted; only a file given as the
   * document does.
   */
  const take = (presented: string): string | null => {
    if (readPresentedText(presented).kind === 'did-document') return NOT_USED;
    show(presented);
    return null;
  };
  /**
   * A file that is not a DID document leaves no document: a verdict under the one before must not be shown beside it.
   */
  const takeDocument = (presented: string | null) => {
    if (presented !== null && readPresentedText(presented).kind === 'did-document')
      setGiven({ state: 'pinned', text: presented, from: 'you' });
    else if (presented !== '') setGiven({ state: 'refused' });
    else if (given?.state === 'refused') setGiven(null);
  };
  const tryExample = () => {
    setGiven({ state: 'pinned', text: JSON.stringify(example.did_document), from: 'example' });
    setText(JSON.stringify(example.receipt, null, 2));
  };
  const document = pin.state === 'pinned' ? pin.text : null;
  const item = useMemo(() => readPresentedText(text), [text]);
  const checked = useMemo(() => check(item, document), [item, document]);
  useEffect(() => ask(), [ask, text]);
  const lacking = given === null && fetched !== null && checked !== null ? unknownKeysOf(checked) : '';
  // Runs once for the same keys, even where other parts of the document change.
  useEffect(() => {
    if (lacking !== '') ask(0);
  }, [ask, lacking]);
  return (
    <Shell page="verifier" standsAlone={fetchDocument === null}>
      <div class="columns verifier-inputs">
        <Intake text={text} onText={show} onGiven={take} onExample={tryExample} />
        <PinView
          pin={pin}
          onGiven={takeDocument}
          standsAlone={fetchDocument === null}
          hasOtherKeys={isOfOtherKeys(given, own)}
          isOfAnother={checked !== null && hasFailure(checked, 'wrong-service')}
        />
      </div>
      {text.trim() !== '' && <Answer item={item} checked={checked} />}
    </Shell>
  );
};

const GIVE_IT_THERE =
  'Give it under “Service document”, if you have it from a channel that you trust: whoever forges a Receipt can send a document beside it that has the forger’s key.';
const NOT_USED = `This file is a DID document, and is not used. ${GIVE_IT_THERE}`;

const pinnedOf = (
  document: OwnDocument | null,
  before: 'missing' | 'loading',
  problem: Error | null,
): PinnedDocument => {
  if (document !== null) return { state: 'pinned', text: document.text, from: 'service' };
  return problem === null ? { state: before } : { state: 'failed', problem: problem.message };
};

const isOfOtherKeys = (given: PinnedDocument | null, own: PinnedDocument): boolean =>
  given?.state === 'pinned' &&
  own.state === 'pinned' &&
  given.from === 'you' &&
  hasOtherKeys(given.text, own.text);

const failuresOf = ({ parts }: Checked, wanted: string) =>
  parts.flatMap(({ failures }) => failures.filter(({ code }) => code === wanted));

const hasFailure = (checked: Checked, wanted: string): boolean => failuresOf(checked, wanted).length > 0;

/** Names each key that the document does not have; empty where it has all. */
const unknownKeysOf = (checked: Checked): string =>
  failuresOf(checked, 'unknown-key')
    .map(({ message }) => message)
    .join();

/** `#jws=…`: how other pages hand over a Receipt. The fragment of an address is never sent to a server. */
const jwsInAddress = (): string => new URLSearchParams(location.hash.slice(1)).get('jws') ?? '';

const check = (item: PresentedItem, document: string | null): Checked | null => {
  if (item.kind === 'bundle') return checkBundle(item.bundle, document);
  return item.kind === 'receipt' ? checkReceipt(item.receipt, document) : null;
};

const Answer = ({ item, checked }: { readonly item: PresentedItem; readonly checked: Checked | null }) => {
  if (checked === null)
    return (
      <p class="note note-bad" role="status">
        {item.kind === 'unreadable'
          ? item.problem
          : `This is a DID document, and no Receipt. ${GIVE_IT_THERE}`}
      </p>
    );
  return (
    <>
      <PartsView checked={checked} />
      {checked.jws !== null && (
        <ReceiptView receipt={checked.receipt} jws={checked.jws} proven={checked.verdict === 'valid'} />
      )}
    </>
  );
};
