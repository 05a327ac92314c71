/** The panels of `deploy/observability/dashboard.json`, and the answer of Prometheus to each. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Prometheus, Series } from './prometheus.ts';
import { SCRAPE_SECONDS } from './prometheus.ts';

const DASHBOARD = fileURLToPath(new URL('../../deploy/observability/dashboard.json', import.meta.url));
/** Four scrapes, as Grafana chooses it. */
const RATE_INTERVAL = `${4 * SCRAPE_SECONDS}s`;

interface Target {
  readonly expr: string;
  readonly legendFormat?: string;
}

interface Panel {
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly Target[];
}

interface Line {
  readonly name: string;
  readonly values: Series['values'];
}

export interface FilledPanel extends Pick<Panel, 'type' | 'title' | 'gridPos'> {
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly lines: readonly Line[];
}

export async function fillPanels(
  prometheus: Prometheus,
  fromMs: number,
  toMs: number,
): Promise<readonly FilledPanel[]> {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { readonly panels: readonly Panel[] };
  const filled: FilledPanel[] = [];
  for (const { type, title, gridPos, fieldConfig, targets = [] } of panels) {
    const lines: Line[] = [];
    for (const { expr, legendFormat = '' } of targets)
      for (const { metric, values } of await prometheus.queryRange(inWords(expr), fromMs, toMs))
        lines.push({ name: legendOf(legendFormat, metric), values });
    filled.push({ type, title, gridPos, unit: fieldConfig?.defaults.unit ?? 'none', lines });
  }
  return filled;
}

/** Replaces Grafana's variables as Grafana does when all processes are selected. */
const inWords = (expr: string): string =>
  expr.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll('$instance', '.*');

const legendOf = (format: string, metric: Readonly<Record<string, string>>): string =>
  format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '');
