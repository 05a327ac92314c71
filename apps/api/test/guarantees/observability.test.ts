/** Dashboard, alerts, runbook and the table of log events name only what the processes expose and log. */
import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { routes } from '@svc/contract';
import {
  ALARMING_EVENTS,
  createColdHealth,
  createColdStoreHealth,
  createDeliveryMetrics,
  createFenceMetrics,
  createJobMetrics,
  createPendingApprovals,
  createReplicaMetrics,
  createRunReporter,
  createStandbyHealth,
  maintenanceJobs,
} from '@svc/process';
import { fencedBlocks } from '@svc/testkit/sdk/readme-block';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createSupervisorMetrics } from '../../src/fleet/supervisor-metrics.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { call, issueGrant, verifyBody } from '../world/tenants.ts';
import { listLoggedEvents } from './logged-events.ts';

const ROOT = new URL('../../../../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const FOLDER = 'deploy/observability/';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const alerts = (parse(readText(`${FOLDER}alerts.yaml`)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(readText(`${FOLDER}dashboard.json`)) as { readonly panels: readonly Panel[] };
const panelExprs = panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
);
const runbook = readText('docs/runbook.md');
/** Queries in blocks of the documents. */
const writtenExprs = ['docs/runbook.md', 'docs/operations.md'].flatMap((path) =>
  fencedBlocks(readText(path)).flatMap(({ code }) =>
    code.split('\n').filter((line) => /^(?:sum|max) by /.test(line)),
  ),
);

/** Every selector of an expression: the metric and its labels. Throws where the expression is not PromQL. */
const selectorsIn = (expr: string) => {
  const found: { metric: string; labels: Record<string, string> }[] = [];
  const textOf = (node: { from: number; to: number }) => expr.slice(node.from, node.to);
  parser.parse(expr).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`no PromQL: ${expr}`);
      if (node.name === 'VectorSelector')
        found.push({ metric: textOf(node.node.getChild('Identifier') ?? node), labels: {} });
      if (node.name !== 'UnquotedLabelMatcher') return;
      const [name, , value] = [...childrenOf(node.node)].map(textOf);
      const selector = found.at(-1);
      if (selector !== undefined && name !== undefined) selector.labels[name] = value?.slice(1, -1) ?? '';
    },
  });
  return found;
};

interface Tree {
  readonly from: number;
  readonly to: number;
  readonly firstChild: Tree | null;
  readonly nextSibling: Tree | null;
}
function* childrenOf(node: Tree): Generator<Tree> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield child;
}

const deployment = withOwnDeployment();
/** Each metric of all processes, with the labels of its samples. */
const exposed = new Map<string, Set<string>>();
/** The metrics of a node that has not failed yet. */
let ofApi = '';

const note = (text: string): void => {
  for (const line of text.split('\n')) {
    const [, family] = /^# TYPE (\S+)/.exec(line) ?? [];
    if (family !== undefined) exposed.set(family, new Set());
    const [, metric, labels = ''] = /^([a-z_:][\w:]*)(?:\{(.*)\})? /i.exec(line) ?? [];
    if (metric === undefined || line.startsWith('#')) continue;
    const known = exposed.get(metric) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    exposed.set(metric, known);
  }
};

beforeAll(async () => {
  const tenants = await deployment.createTenants();
  const body = await verifyBody(tenants, await issueGrant(tenants));
  await deployment.call('POST', '/verify', { key: tenants.rpKey, body });
  ofApi = (await call(deployment.process.adminUrl, 'GET', '/metrics')).text;
  note(ofApi);
  // Metrics that only the registries of the supervisor, the worker and the runner have.
  const registry = new Registry();
  createSupervisorMetrics(registry, 2, () => 2);
  const jobs = createJobMetrics(registry, maintenanceJobs(deployment.process.service));
  jobs.record({ job: 'close-days', outcome: 'done', durationMs: 1, result: { closed: 1 } });
  createRunReporter(pino({ enabled: false }), registry);
  const { store } = deployment.process.service;
  createColdHealth(registry, store.coldDays);
  createColdStoreHealth(registry, { store, objects: { head: async () => null }, log: { warn: () => {} } });
  createDeliveryMetrics(registry, store.eventDeliveries, true);
  createPendingApprovals(registry, store.approvals);
  createFenceMetrics(registry, { unkeptForMs: () => 0 });
  const state = { fault: null, behindMs: 0, reads: { replica: 1, primary: 1 } };
  createReplicaMetrics(registry, { describeReplica: () => state });
  createStandbyHealth(registry, { describeStandby: async () => 'ok' });
  note(await registry.metrics());
});

const OF_PROMETHEUS = ['job', 'instance', 'le'];
/** The metric that Prometheus itself adds for each target. */
exposed.set('up', new Set());

it.each([
  ['alerts', alerts.map(({ expr }) => expr)],
  ['dashboard', panelExprs],
] as const)('every metric and label that the %s use is exposed by a process', (_, exprs) => {
  const selectors = exprs.flatMap(selectorsIn);
  expect(selectors.length).toBeGreaterThan(20);
  const missing = selectors.filter(({ metric }) => !exposed.has(metric)).map(({ metric }) => metric);
  expect(missing).toEqual([]);
  for (const { metric, labels } of selectors) {
    const known = [...OF_PROMETHEUS, ...(exposed.get(metric) ?? [])];
    expect(known, metric).toEqual(expect.arrayContaining(Object.keys(labels)));
  }
});

it('every metric and label in a documented query is exposed by a process', () => {
  const selectors = writtenExprs.flatMap(selectorsIn);
  expect(selectors.length).toBeGreaterThan(0);
  for (const { metric, labels } of selectors) {
    expect([...exposed.keys()]).toContain(metric);
    expect([...OF_PROMETHEUS, ...(exposed.get(metric) ?? [])]).toEqual(
      expect.arrayContaining(Object.keys(labels)),
    );
  }
});

it('the check recognises a metric that no process exposes', () => {
  const [selector] = selectorsIn('sum(rate(svc_receipts_total{route="verify"}[5m]))');
  expect(selector).toEqual({ metric: 'svc_receipts_total', labels: { route: 'verify' } });
  expect(exposed.has('svc_receipts_total')).toBe(false);
});

it('every svc_ metric is on the dashboard and in docs/operations.md', () => {
  const ours = [...exposed.keys()].filter((name) => /^svc_(?!.*_(?:bucket|sum|count)$)/.test(name));
  const shown = new Set(
    panelExprs.flatMap(selectorsIn).map(({ metric }) => metric.replace(/_(?:bucket|sum|count)$/, '')),
  );
  expect(ours.filter((name) => !shown.has(name))).toEqual([]);
  const documented = readText('docs/operations.md');
  expect(ours.filter((name) => !documented.includes(`\`${name}`))).toEqual([]);
});

it('routes, jobs, items and events in alerts exist, and every alarming item is in an alert', () => {
  const asked = alerts.flatMap(({ expr }) => selectorsIn(expr));
  const valuesOf = (label: string) => asked.flatMap(({ labels }) => labels[label]?.split('|') ?? []);
  expect(Object.keys(routes)).toEqual(expect.arrayContaining(valuesOf('route')));
  const jobs = maintenanceJobs(deployment.process.service);
  expect(jobs.map(({ name }) => name)).toEqual(expect.arrayContaining(valuesOf('job_name')));
  const items = asked.flatMap(
    ({ labels: { job_name: job, item } }) =>
      job?.split('|').flatMap((name) => item?.split('|').map((one) => `${name} ${one}`) ?? []) ?? [],
  );
  const alarming = jobs.flatMap(({ name, alarmingItems = [] }) =>
    alarmingItems.map((one) => `${name} ${one}`),
  );
  expect(alarming.toSorted()).toEqual([...new Set(items)].toSorted());
  expect(ALARMING_EVENTS).toEqual(expect.arrayContaining(valuesOf('event')));
  const logged = new Set(listLoggedEvents().map(({ event }) => event));
  expect([...ALARMING_EVENTS].filter((event) => !logged.has(event))).toEqual([]);
});

it('the worker table in docs/operations.md has every job with its interval', () => {
  const section = readText('docs/operations.md').split('## The worker')[1]?.split(/^## /m)[0] ?? '';
  const rows = [...section.matchAll(/^\| `([a-z-]+)` \| (\d+ (?:s|min|h)) \| [^|]+ \|$/gm)];
  // No job runs here, so the object for packing is never used.
  const jobs = maintenanceJobs(deployment.process.service, {} as NonNullable<Packing>);
  const listed = jobs.map(({ name, everyMs }) => `${name} ${inWords(everyMs)}`);
  expect(rows.map(([, name, every]) => `${name} ${every}`).sort()).toEqual(listed.sort());
});

type Packing = Parameters<typeof maintenanceJobs>[1];

const inWords = (ms: number): string => {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`;
};

/** Their names look alike, but they remove nobody's authority: they concern the delivery of events, and the sandbox. */
const NO_AUTHORITY = ['disableEventSubscription', 'revokeDemo'];

it('SvcRevocationFails covers every route that revokes, disables, retires, compromises, pauses, releases or transfers', () => {
  const taking = Object.keys(routes)
    .filter((route) => /^(?:revoke|disable|retire|compromise|pause|release|transfer)/.test(route))
    .filter((route) => !NO_AUTHORITY.includes(route));
  const rule = alerts.find(({ alert }) => alert === 'SvcRevocationFails');
  const [selector] = selectorsIn(rule?.expr ?? '');
  expect(selector?.labels.route?.split('|').sort()).toEqual(taking.sort());
});

it('every route exposes its 500 and 503 counters with 0 before its first failure', () => {
  const lines = new Set(ofApi.split('\n'));
  const without = [...Object.keys(routes), 'none'].flatMap((route) =>
    [500, 503]
      .map((status) => `svc_http_requests_total{route="${route}",status="${status}"} 0`)
      .filter((line) => !lines.has(line)),
  );
  expect(without).toEqual([]);
});

const OF_FAILED_REQUESTS = ['requestId', 'route', 'detail', 'err', 'job'];

describe('the runbook', () => {
  const sections = new Map(
    runbook
      .split(/^### /m)
      .slice(1)
      .map((text) => [text.split('\n', 1)[0] ?? '', text.split(/^## /m)[0] ?? '']),
  );

  it('has exactly one section for each alert, and each alert links to its section', () => {
    expect([...sections.keys()].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  });

  it('has at least two steps in each section, and a log or metric query in each step', () => {
    for (const [alert, text] of sections) {
      const [, ...steps] = text.split(/^(?=[0-9]\. )/m);
      expect(steps.length, alert).toBeGreaterThanOrEqual(2);
      const without = steps.filter(
        (step) => !/^ {3}```\n(?: {3}.*\n)*? {3}(?:jq -|.*\| jq -|journalctl |(?:sum|max) by )/m.test(step),
      );
      expect(without, alert).toEqual([]);
    }
  });

  it('uses only documented log events and their fields in its queries', () => {
    const table = documentedEvents();
    for (const [, query = ''] of runbook.matchAll(/^ {3}.*?jq -\w+ '(.*?)'/gm)) {
      const events = [...query.matchAll(/\.msg == "([^"]+)"/g)].map(([, event = '']) => event);
      expect([...table.keys()], query).toEqual(expect.arrayContaining(events));
      const fields = events.flatMap((event) => table.get(event)?.fields ?? []);
      // `ms` is a name that a query defines; without an event it belongs to lines that end a request with a 5xx.
      const known = [
        'level',
        'time',
        'msg',
        'processId',
        'ms',
        ...(events.length === 0 ? OF_FAILED_REQUESTS : fields),
      ];
      const asked = [...query.matchAll(/(?<![\w\])"'.])\.([a-zA-Z_]+)(?:\.([a-zA-Z_]+))?/g)];
      expect(
        asked.map(([, field = '']) => field).filter((field) => !known.includes(field)),
        query,
      ).toEqual([]);
      for (const [, field, part] of asked)
        if (field === 'err' && part !== undefined)
          expect(['name', 'message', 'code', 'stack']).toContain(part);
    }
  });
});

const documentedEvents = () => {
  const section = readText('docs/operations.md').split('## The log')[1]?.split(/^## /m)[0] ?? '';
  const rows = section.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]*) \|/gm);
  return new Map(
    [...rows].map(([, event = '', level = '', fields = '']) => [
      event,
      {
        level,
        isOpen: fields.includes('…'),
        fields: [...fields.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      },
    ]),
  );
};

it('the table of log events has exactly the events that the sources log, with all their fields', () => {
  const documented = documentedEvents();
  const logged = listLoggedEvents();
  expect(logged.length).toBeGreaterThan(35);
  expect([...documented.keys()].sort()).toEqual([...new Set(logged.map(({ event }) => event))].sort());
  const missing = logged.flatMap(({ event, fields }) =>
    fields
      .filter((field) => !documented.get(event)?.fields.includes(field))
      .map((field) => `${event}: ${field}`),
  );
  expect(missing).toEqual([]);
});

it('every alert has a unit test in which it fires and one in which it does not', () => {
  const { tests } = parse(readText(`${FOLDER}alerts.test.yaml`)) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const named = (fires: boolean) =>
    new Set(
      cases
        .filter(({ exp_alerts }) => (exp_alerts !== undefined) === fires)
        .map(({ alertname }) => alertname),
    );
  expect([...named(true)].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  expect([...named(false)].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});
