/** One bar for each Principal: its ALLOWs and DENYs, with the outcomes that were reported. */
import { formatAmount } from '../shared/describe.ts';
import type { DecisionStats } from '../shared/wire.ts';

const MAX_SHOWN = 8;

export const PrincipalBars = ({ stats }: { readonly stats: DecisionStats }) => {
  const principals = [...stats.principals].sort((left, right) => right.verifies - left.verifies);
  const all = principals.reduce((sum, one) => sum + one.verifies, 0);
  return (
    <section class="card" aria-labelledby="principals">
      <div class="card-head">
        <h2 id="principals">By Principal</h2>
        <p>
          <span class="key-good">ALLOW</span> <span class="key-bad">DENY</span>
        </p>
      </div>
      {principals.length === 0 ? (
        <p class="soft">Nobody yet.</p>
      ) : (
        <ul class="bars">
          {principals.slice(0, MAX_SHOWN).map((one) => (
            <li key={one.principal ?? ''}>
              <p class="bar-label">
                {one.principal === null ? (
                  <span class="soft">Denied before the Grant was authenticated</span>
                ) : (
                  <code>{one.principal}</code>
                )}
                <span>
                  {one.allow.toLocaleString('en')} / {one.deny.toLocaleString('en')}
                </span>
              </p>
              <div class="bar" aria-hidden="true">
                <i class="bar-good" style={{ width: `${(100 * one.allow) / all}%` }} />
                <i class="bar-bad" style={{ width: `${(100 * one.deny) / all}%` }} />
              </div>
              <Aftermath outcomes={one.outcomes} losses={one.losses} />
            </li>
          ))}
        </ul>
      )}
      {principals.length > MAX_SHOWN && <p class="soft">and {principals.length - MAX_SHOWN} more</p>}
    </section>
  );
};

const Aftermath = ({
  outcomes,
  losses,
}: Pick<DecisionStats['principals'][number], 'outcomes' | 'losses'>) => {
  const told = [
    ...Object.entries(outcomes).map(([type, count]) => `${count} ${type.replaceAll('_', ' ')}`),
    ...Object.entries(losses).map(([currency, sum]) => `${formatAmount(sum, currency)} lost`),
  ];
  return told.length === 0 ? null : <p class="soft">{told.join(' · ')}</p>;
};
