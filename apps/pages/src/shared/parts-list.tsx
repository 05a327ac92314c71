/** Named parts, each with its state as a shape, a colour and a word. */
import { Icon } from './icons.tsx';
import type { Part } from './part.ts';
import { visible } from './resource.tsx';
import './parts-list.css';

/** Most failures that are listed: a bundle of a hundred thousand files can have as many. */
const MAX_FAILURES = 20;

const WORDS = { ok: 'ok', wrong: 'wrong', unchecked: 'not judged' } as const;

export const PartsList = ({ parts }: { readonly parts: readonly Part[] }) => (
  <ul class="parts">
    {parts.map((part) => (
      <PartRow key={part.id} part={part} />
    ))}
  </ul>
);

const PartRow = ({ part: { id, name, state, means, failures } }: { readonly part: Part }) => (
  <li class={`part part-${state}`} data-part={id} data-state={state}>
    <Icon of={state === 'unchecked' ? 'idle' : state} />
    <div>
      <p class="part-name">
        {name} <span class="part-word">{WORDS[state]}</span>
      </p>
      {failures.length === 0 ? (
        <p class="soft">{state === 'ok' ? means : 'It rests on a part that is missing or wrong.'}</p>
      ) : (
        <ul class="part-why">
          {failures.slice(0, MAX_FAILURES).map(({ code, message }, i) => (
            <li key={`${code}${i}`}>
              {visible(message)} <code>{code}</code>
            </li>
          ))}
          {failures.length > MAX_FAILURES && (
            <li>and {(failures.length - MAX_FAILURES).toLocaleString('en')} more</li>
          )}
        </ul>
      )}
    </div>
  </li>
);
