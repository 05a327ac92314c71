/**
 * Traces of a real process, as a receiver of OTLP gets them: a verification down to its commit, and what they do not
 * contain.
 */
import { randomBytes } from 'node:crypto';
import { generatePrincipalKey } from '@svc/sdk-principal';
import { withDatabase } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import { randomSlug } from '../world/deployment.ts';
import {
  DID_DOCUMENT,
  didDocument,
  type PrincipalHost,
  startPrincipalHost,
} from '../world/principal-host.ts';
import {
  ACTION,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from '../world/trace-receiver.ts';

const database = withDatabase();
const name = `${randomSlug('traced')}.example`;
let receiver: TraceReceiver;
let host: PrincipalHost;
let api: ApiProcesses;
let tenants: Tenants;
let held: HeldGrant;
const baseUrl = () => api.processes[0]?.baseUrl ?? '';

beforeAll(async () => {
  [receiver, host] = await Promise.all([startTraceReceiver(), startPrincipalHost()]);
  api = await startApiProcesses(1, database.url, {
    SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  tenants = await createTenants(baseUrl());
  held = await issueGrant(tenants);
});
afterAll(async () => {
  await api?.stop();
  await Promise.all([receiver?.close(), host?.close()]);
});

const newTrace = () => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') });
type Trace = ReturnType<typeof newTrace>;
const sending = ({ traceId, spanId }: Trace, headers: Record<string, string>) => ({
  ...headers,
  'content-type': 'application/json',
  traceparent: `00-${traceId}-${spanId}-01`,
  tracestate: 'vendor=of-the-caller',
  baggage: 'text=of-the-caller',
});

const verify = async (trace: Trace, body: unknown) => {
  const headers = sending(trace, { authorization: `Bearer ${tenants.rpKey}` });
  const response = await fetch(`${baseUrl()}/verify`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return receiptOf({ status: response.status, text: await response.text() } as never);
};

const spansOf = ({ traceId }: Trace) => receiver.spans.filter((span) => span.traceId === traceId);
/** Spans are sent a moment after they end, those of a request together or in order. */
const untilTraced = async (trace: Trace, root: string): Promise<readonly ReceivedSpan[]> => {
  await expect.poll(() => spansOf(trace).map((span) => span.name)).toContain(root);
  return spansOf(trace);
};
const attributesOf = ({ attributes }: ReceivedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

it('a verification continues the trace of its caller, with a span for each stage and for the commit batch; its log line has the trace id', async () => {
  const trace = newTrace();
  const { decision } = await verify(trace, await verifyBody(tenants, held));
  expect(decision).toBe('ALLOW');
  const byName = new Map((await untilTraced(trace, 'POST /verify')).map((span) => [span.name, span]));
  const request = byName.get('POST /verify');
  expect(request?.parentSpanId).toBe(trace.spanId);
  for (const stage of ['authenticate', 'gate', 'facts', 'evaluate', 'sign', 'commit'])
    expect(byName.get(stage)?.parentSpanId, stage).toBe(request?.spanId);
  expect(byName.get('commit batch')?.parentSpanId).toBe(byName.get('commit')?.spanId);
  expect(request === undefined ? null : attributesOf(request)).toEqual({
    'http.request.method': 'POST',
    'http.route': '/verify',
    'http.response.status_code': 200,
    'svc.decision': 'ALLOW',
    'svc.replayed': false,
  });
  const [node] = api.processes;
  expect(await node?.line(trace.traceId)).toContain('"route":"verify"');
});

it('commits that are stored in one batch are linked with its span, in both directions', async () => {
  const grants = await Promise.all(Array.from({ length: 12 }, () => issueGrant(tenants)));
  const bodies = await Promise.all(grants.map((grant) => verifyBody(tenants, grant)));
  const traces = bodies.map(newTrace);
  await Promise.all(bodies.map((body, i) => verify(traces[i] ?? newTrace(), body)));
  for (const trace of traces) await untilTraced(trace, 'POST /verify');
  const all = traces.flatMap(spansOf);
  const linked = all.filter((span) => span.name === 'commit batch' && (span.links ?? []).length > 0);
  expect(linked.length).toBeGreaterThan(0);
  const [batch] = linked;
  if (batch === undefined) return;
  expect(attributesOf(batch)['svc.batch.size']).toBe((batch.links?.length ?? 0) + 1);
  for (const { spanId } of batch.links ?? []) {
    const commit = all.find((span) => span.spanId === spanId);
    expect(commit?.name).toBe('commit');
    expect(commit?.links?.map((link) => link.spanId)).toContain(batch.spanId);
  }
});

it('a request to the host of a Principal has the traceparent, but not the tracestate and baggage of the caller', async () => {
  const did = `did:web:${name}`;
  const { publicKeyMultibase } = (await generatePrincipalKey()).registration;
  host.pages.set(DID_DOCUMENT, didDocument(did, [{ publicKeyMultibase }]));
  const trace = newTrace();
  const headers = sending(trace, { authorization: `Bearer ${ADMIN_TOKEN}` });
  const body = JSON.stringify({ kind: 'hosted', did });
  expect((await fetch(`${baseUrl()}/principals`, { method: 'POST', headers, body })).status).toBe(201);
  const [heard = {}] = host.heard;
  const spans = await untilTraced(trace, 'POST /principals');
  const ask = spans.find((span) => span.name === 'ask');
  expect(heard.traceparent).toBe(`00-${trace.traceId}-${ask?.spanId}-01`);
  expect([heard.tracestate, heard.baggage]).toEqual([undefined, undefined]);
  expect(ask === undefined ? null : attributesOf(ask)).toEqual({
    'http.request.method': 'GET',
    'server.address': name,
  });
});

it('a refused request is traced with its status, and its failed stage with the error code only', async () => {
  const trace = newTrace();
  const headers = sending(trace, { authorization: `Bearer ${tenants.rpKey}x` });
  const response = await fetch(`${baseUrl()}/verify`, { method: 'POST', headers, body: '{}' });
  expect(response.status).toBe(401);
  const spans = await untilTraced(trace, 'POST /verify');
  const [authenticate, request] = ['authenticate', 'POST /verify'].map((one) =>
    spans.find((span) => span.name === one),
  );
  expect(authenticate?.status.code).toBe(2);
  expect(authenticate === undefined ? null : attributesOf(authenticate)).toEqual({
    'error.type': 'UNAUTHORIZED',
  });
  expect(request === undefined ? null : attributesOf(request)).toMatchObject({
    'http.response.status_code': 401,
  });
});

it('no span contains a credential, a DID, a Grant, a Proof, a resource, or the baggage and tracestate of the caller', () => {
  const text = receiver.bodies.join('\n');
  const isThere = (part: string) => text.includes(part);
  expect(isThere('POST /verify')).toBe(true);
  const secrets = [
    held.grantId,
    tenants.rpKey,
    tenants.principalKey,
    ADMIN_TOKEN,
    ACTION.resource,
    'of-the-caller',
  ];
  expect(secrets.filter(isThere)).toEqual([]);
  expect(/did:(?:web|key):|eyJ/.exec(text)?.[0]).toBeUndefined();
});

// In a sample packages/process, open-tracing.test.ts, tests this without a process.
it.runIf(isDeep)(
  'without an OTLP endpoint an incoming traceparent is neither forwarded nor logged',
  async () => {
    const other = await startApiProcesses(1, database.url, {
      SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }),
    });
    try {
      const before = host.heard.length;
      const headers = sending(newTrace(), { authorization: `Bearer ${ADMIN_TOKEN}` });
      const did = encodeURIComponent(`did:web:${name}`);
      await fetch(`${other.processes[0]?.baseUrl}/principals/${did}/verify`, { method: 'POST', headers });
      expect(host.heard.length).toBeGreaterThan(before);
      expect(host.heard.slice(before).map(({ traceparent }) => traceparent)).toEqual(
        host.heard.slice(before).map(() => undefined),
      );
      expect(other.processes[0]?.log.join('\n')).not.toContain('traceId');
    } finally {
      await other.stop();
    }
  },
);
