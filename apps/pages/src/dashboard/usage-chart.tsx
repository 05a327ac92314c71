/** Verifies per day as stacked bars. The canvas is a picture; a table below it holds the same numbers. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Usage } from '../shared/wire.ts';
import { dayStartSeconds, shortDay } from './period.ts';

type Day = Usage['days'][number];

const HEIGHT_PX = 240;
const HALF_DAY_SECONDS = 43_200;

export const UsageChart = ({ days }: { readonly days: readonly Day[] }) => {
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const sorted = useMemo(() => [...days].sort((a, b) => (a.day < b.day ? -1 : 1)), [days]);
  useEffect(() => {
    if (place.current !== null) return drawInto(place.current, sorted, setPointed);
    return undefined;
  }, [sorted]);
  const shown = pointed === null ? undefined : sorted[pointed];
  return (
    <section class="card" aria-labelledby="per-day">
      <div class="card-head">
        <h2 id="per-day">Verifies per day</h2>
        <p>
          {shown === undefined ? (
            <>
              <span class="key-good">ALLOW</span> <span class="key-bad">DENY</span>
            </>
          ) : (
            `${shortDay(shown.day)}: ${shown.allow.toLocaleString('en')} ALLOW, ${shown.deny.toLocaleString('en')} DENY`
          )}
        </p>
      </div>
      <figure>
        <div ref={place} class="chart" role="img" aria-label={summaryOf(sorted)} />
      </figure>
      <details class="plain-details">
        <summary>As a table</summary>
        <DayTable days={sorted} />
      </details>
    </section>
  );
};

const summaryOf = (days: readonly Day[]): string => {
  const busiest = days.reduce<Day | null>(
    (most, day) => (most === null || day.verifies > most.verifies ? day : most),
    null,
  );
  return busiest === null
    ? 'No days.'
    : `Bars of ${days.length} days. The busiest is ${shortDay(busiest.day)} with ${busiest.allow} ALLOW and ${busiest.deny} DENY.`;
};

const DayTable = ({ days }: { readonly days: readonly Day[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section class="table-scroll" tabIndex={0} aria-label="Verifies per day, as a table">
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Verifies</th>
          <th scope="col">ALLOW</th>
          <th scope="col">DENY</th>
        </tr>
      </thead>
      <tbody>
        {[...days].reverse().map(({ day, verifies, allow, deny }) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            <td>{verifies}</td>
            <td>{allow}</td>
            <td>{deny}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

/**
 * Draws, and redraws when the size of the place or the colour scheme changes. Returns the function that removes the
 * chart.
 */
const drawInto = (
  place: HTMLElement,
  days: readonly Day[],
  onPoint: (index: number | null) => void,
): (() => void) => {
  let plot: uPlot | null = null;
  const draw = () => {
    plot?.destroy();
    plot = new uPlot(optionsFor(place, onPoint), dataOf(days), place);
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const observer = new ResizeObserver(() => plot?.setSize({ width: place.clientWidth, height: HEIGHT_PX }));
  draw();
  observer.observe(place);
  scheme.addEventListener('change', draw);
  return () => {
    observer.disconnect();
    scheme.removeEventListener('change', draw);
    plot?.destroy();
  };
};

/** Stacked: the whole bar is drawn in the colour of DENY, and ALLOW over its lower part. */
const dataOf = (days: readonly Day[]): uPlot.AlignedData => [
  days.map(({ day }) => dayStartSeconds(day)),
  days.map(({ allow, deny }) => allow + deny),
  days.map(({ allow }) => allow),
];

const optionsFor = (place: HTMLElement, onPoint: (index: number | null) => void): uPlot.Options => {
  const [bad, good, line, soft] = colours(place, '--bad-solid', '--good-solid', '--line', '--ink-soft');
  const bars = uPlot.paths.bars?.({ size: [0.72, 34], radius: 0.12 });
  const series = (fill = '') => ({ fill, width: 0, points: { show: false }, ...(bars && { paths: bars }) });
  const axis = { stroke: soft ?? '', font: '12px system-ui', ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    scales: {
      x: { range: (_, min, max) => [min - HALF_DAY_SECONDS, max + HALF_DAY_SECONDS] },
      y: { range: (_, _min, max) => [0, Math.max(4, max * 1.08)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, at) => at.map((s) => shortDay(isoDay(s))),
        space: 64,
        size: 28,
      },
      {
        ...axis,
        grid: { stroke: line ?? '', width: 1 },
        size: widthOfLabels,
        incrs: WHOLE_STEPS,
        values: (_, counts) => counts.map((count) => SHORT.format(count)),
      },
    ],
    series: [{}, series(bad), series(good)],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
};

/** `1.2M`: keeps every count narrow enough for its place. */
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const WIDTH_PER_LETTER_PX = 8;

const widthOfLabels = (_: uPlot, labels: readonly string[] | null): number =>
  14 + WIDTH_PER_LETTER_PX * Math.max(2, ...(labels ?? []).map(({ length }) => length));

const WHOLE_STEPS = [1, 2, 5]
  .flatMap((n) => [n, n * 10, n * 100, n * 1e3, n * 1e4, n * 1e5, n * 1e6])
  .sort((a, b) => a - b);

const isoDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** Resolves custom properties for the current scheme, which a canvas does not do. */
const colours = (place: HTMLElement, ...names: readonly string[]): string[] => {
  const probe = place.appendChild(document.createElement('i'));
  const found = names.map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
};
