/** Draws the dashboard: its panels in Grafana's layout, with the data that Prometheus has for each. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { FilledPanel } from './panels.ts';

const CHROMIUM = '/usr/bin/chromium';
const COLUMNS = 24;
const WIDTH_PX = 1_680;
const ROW_PX = 32;
const COLOURS = ['#2f7de1', '#d9822b', '#238551', '#c23030', '#7961db', '#0f9960', '#a82255', '#866103'];

/** Writes a PNG. */
export async function drawDashboard(panels: readonly FilledPanel[], file: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH_PX, height: 900 } });
    const { resolve } = createRequire(import.meta.url);
    await page.setContent(html(panels));
    await page.addStyleTag({ path: resolve('uplot/dist/uPlot.min.css') });
    await page.addScriptTag({ content: readFileSync(resolve('uplot/dist/uPlot.iife.min.js'), 'utf8') });
    await page.addScriptTag({ content: `(${drawInPage.toString()})(${JSON.stringify(chartsOf(panels))})` });
    await page.screenshot({ path: file, fullPage: true });
  } finally {
    await browser.close();
  }
}

interface Chart {
  readonly panel: number;
  /** In uPlot's form: times, then the values of each line at those times. */
  readonly data: readonly (readonly (number | null)[])[];
  readonly colours: readonly string[];
}

const chartsOf = (panels: readonly FilledPanel[]): readonly Chart[] =>
  panels.flatMap(({ type, lines }, panel) => {
    if (type !== 'timeseries' || lines.length === 0) return [];
    const times = [...new Set(lines.flatMap(({ values }) => values.map(([at]) => at)))].sort((a, b) => a - b);
    const columns = lines.map(({ values }) => {
      const byTime = new Map(values.map(([at, value]) => [at, Number(value)]));
      return times.map((at) => byTime.get(at) ?? null).map((value) => (Number.isNaN(value) ? null : value));
    });
    return [{ panel, data: [times, ...columns], colours: lines.map((_, i) => colourOf(i)) }];
  });

/** Runs in the page, not in this process. */
function drawInPage(charts: readonly Chart[]): void {
  const { uPlot, document } = globalThis as unknown as {
    readonly uPlot: new (options: object, data: unknown, parent: unknown) => unknown;
    readonly document: { getElementById(id: string): { clientWidth: number; clientHeight: number } };
  };
  for (const { panel, data, colours } of charts) {
    const parent = document.getElementById(`chart-${panel}`);
    const lines = colours.map((stroke) => ({ stroke, width: 1.5, points: { show: data[0]?.length === 1 } }));
    new uPlot(
      {
        width: parent.clientWidth,
        height: parent.clientHeight,
        legend: { show: false },
        series: [{}, ...lines],
        scales: {
          y: { range: (_: unknown, least: number, most: number) => [Math.min(0, least), most || 1] },
        },
        axes: [{}, { size: 70 }],
      },
      data,
      parent,
    );
  }
}

const colourOf = (line: number): string => COLOURS[line % COLOURS.length] ?? '#000';
const escapeHtml = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

const html = (panels: readonly FilledPanel[]): string => `<!doctype html><meta charset="utf-8"><style>
body { font: 13px system-ui, sans-serif; margin: 12px; background: #f4f5f7; color: #1c2127; position: relative; }
main { display: grid; grid-template-columns: repeat(${COLUMNS}, 1fr); grid-auto-rows: ${ROW_PX}px; gap: 6px; }
section { background: #fff; border: 1px solid #d3d8de; border-radius: 3px; display: flex; flex-direction: column; padding: 4px 8px; overflow: hidden; }
h2, h3 { margin: 0; font-size: 13px; } h2 { font-size: 16px; align-self: end; }
.chart { flex: 1; min-height: 0; } .value { font-size: 34px; margin: auto; } .none { color: #738091; margin: auto; }
.legend { font-size: 11px; max-height: 30px; overflow: hidden; } .legend span { margin-right: 10px; white-space: nowrap; }
</style><main>${panels.map(panelOf).join('')}</main>`;

function panelOf({ type, title, gridPos: { x, y, w, h }, unit, lines }: FilledPanel, index: number): string {
  const place = `grid-column: ${x + 1} / span ${w}; grid-row: ${y + 1} / span ${h}`;
  if (type === 'row') return `<h2 style="${place}">${escapeHtml(title)}</h2>`;
  const heading = `<h3>${escapeHtml(title)}${unit === 'none' ? '' : ` (${escapeHtml(unit)})`}</h3>`;
  const inside = type === 'stat' ? statOf(lines) : chartOf(lines, index);
  return `<section style="${place}">${heading}${lines.length === 0 ? '<p class="none">no data</p>' : inside}</section>`;
}

const statOf = ([line]: FilledPanel['lines']): string =>
  `<p class="value">${Number(Number(line?.values.at(-1)?.[1]).toFixed(1))}</p>`;

const chartOf = (lines: FilledPanel['lines'], index: number): string =>
  `<div class="chart" id="chart-${index}"></div><div class="legend">${lines
    .map(({ name }, i) => `<span style="color: ${colourOf(i)}">■ ${escapeHtml(name)}</span>`)
    .join('')}</div>`;
