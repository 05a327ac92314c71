/** The purchase and its amount, the button for the honest request, and the five ways to cheat. */
import { formatAmount } from '../shared/describe.ts';
import type { DemoInfo } from '../shared/wire.ts';
import { CHEATS, limitOf, type ScenarioId } from './scenarios.ts';

/** The slider's range as a multiple of the limit, so that the limit can be exceeded. */
const BEYOND = 1.25;

export interface ControlsProps {
  /** Null where it is not loaded: every control is in its place all the same. */
  readonly info: DemoInfo | null;
  /** Minor units. */
  readonly amount: number;
  readonly onAmount: (amount: number) => void;
  readonly playing: ScenarioId | null;
  /** Null while the page is starting: nothing can be pressed. */
  readonly onPlay: ((scenario: ScenarioId) => Promise<void>) | null;
}

export const Controls = ({ info, amount, onAmount, playing, onPlay }: ControlsProps) => {
  const { maxAmount, currency } = limitOf(info);
  const isBusy = onPlay === null || playing !== null;
  // A button that becomes disabled loses the focus of the user who has just pressed it.
  const press = (scenario: ScenarioId) => () => {
    if (!isBusy) void onPlay(scenario);
  };
  const isAbove = amount > maxAmount;
  return (
    <div class="columns controls">
      <section class="card" aria-labelledby="purchase">
        <div class="card-head">
          <h2 id="purchase">The purchase</h2>
          <p>up to {formatAmount(maxAmount, currency)} is granted</p>
        </div>
        <div class="amount">
          <output class={isAbove ? 'amount-value amount-above' : 'amount-value'} htmlFor="amount">
            {formatAmount(amount, currency)}
          </output>
          <input
            id="amount"
            type="range"
            aria-label="Amount"
            aria-valuetext={`${formatAmount(amount, currency)}${isAbove ? ', above the limit' : ''}`}
            min={0}
            max={Math.round(maxAmount * BEYOND)}
            step={stepFor(maxAmount)}
            value={amount}
            onInput={(event) => onAmount(Number(event.currentTarget.value))}
          />
          <div class="amount-scale" aria-hidden="true">
            <i style={{ insetInlineStart: `${100 / BEYOND}%` }}>limit</i>
          </div>
        </div>
        <button
          type="button"
          class="button button-main button-large"
          aria-disabled={isBusy}
          onClick={press('honest')}
        >
          {playing === 'honest' ? 'Asking …' : 'Ask the service'}
        </button>
        <Parties info={info} />
      </section>
      <section class="card" aria-labelledby="cheat">
        <div class="card-head">
          <h2 id="cheat">Or try to cheat</h2>
          <p>each is stopped by another check</p>
        </div>
        <ul class="cheats">
          {CHEATS.map(({ id, name, does }) => (
            <li key={id}>
              <button type="button" class="cheat" aria-disabled={isBusy} onClick={press(id)}>
                <span class="cheat-name">{name}</span>
                <span class="soft">{does}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
};

const Parties = ({ info }: { readonly info: DemoInfo | null }) => (
  <dl class="facts">
    <dt>Principal</dt>
    <dd>
      <code>{info?.principal ?? '…'}</code>
    </dd>
    <dt>Agent</dt>
    <dd>
      <code>{info?.agent ?? '…'}</code>
    </dd>
    <dt>Relying party</dt>
    <dd>
      <code>{info?.rp ?? '…'}</code>
    </dd>
    <dt>Grant lives</dt>
    <dd>{info === null ? '…' : `${Math.round(info.grant_lifetime_seconds / 60)} minutes`}</dd>
  </dl>
);

/** Step of the slider, in minor units: about 250 stops, on round numbers. */
const stepFor = (maxAmount: number): number =>
  Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, maxAmount) / 100)));
