/**
 * OpenTelemetry spans for stages, calls, requests and batches. Tracing is off until a process that exports spans turns
 * it on. While it is off, each function here only tests one variable and creates nothing. The attributes of spans are a
 * closed list without customers' data.
 */
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/**
 * Attributes of a span: no credential, DID, Grant, resource or amount. `server.address` is a host that the service
 * called.
 */
export interface SpanFacts {
  readonly 'http.request.method'?: string;
  readonly 'http.response.status_code'?: number;
  readonly 'http.route'?: string;
  readonly 'server.address'?: string;
  readonly 'svc.batch.size'?: number;
  readonly 'svc.decision'?: string;
  readonly 'svc.reason'?: string;
  readonly 'svc.replayed'?: boolean;
}

let tracer: Tracer | null = null;
/** Spans of waiting calls, by the item that they wait for. */
const waiting = new WeakMap<object, Span>();

/** Turns tracing on, or off (null). The caller must have registered a context manager and a propagator. */
export const traceWith = (one: Tracer | null): void => {
  tracer = one;
};

export const isTracing = (): boolean => tracer !== null;

/** Runs `work` in a child span of the active one. */
export const traced = <T>(name: string, work: () => T): T =>
  tracer === null ? work() : inSpan(tracer, name, {}, context.active(), work);

/** As `traced`, for a call to another service. `facts` describe the call. */
export const tracedCall = <T>(name: string, facts: SpanFacts, work: () => T): T => {
  if (tracer === null) return work();
  return inSpan(
    tracer,
    name,
    { kind: SpanKind.CLIENT, attributes: attributesOf(facts) },
    context.active(),
    work,
  );
};

/**
 * As `traced`, for a received request. The span is part of the caller's trace if the headers have one (W3C Trace
 * Context).
 */
export const tracedRequest = <T>(
  name: string,
  headers: Readonly<Record<string, unknown>>,
  facts: SpanFacts,
  work: () => T,
): T => {
  if (tracer === null) return work();
  const options = { kind: SpanKind.SERVER, attributes: attributesOf(facts) };
  return inSpan(tracer, name, options, callerOf(headers), work);
};

/** As `traced`, for `work` that waits until `item` is done in a batch with others. */
export const tracedItem = <T>(name: string, item: object, work: () => T): T => {
  if (tracer === null) return work();
  return inSpan(tracer, name, {}, context.active(), (span) => {
    waiting.set(item, span);
    return work();
  });
};

/**
 * As `traced`, for a batch. The span is part of the trace of the first waiting item whose span is recorded, and linked
 * with the spans of the others in both directions. If none of these spans is recorded, the batch has no span.
 */
export const tracedBatch = <T>(name: string, items: readonly object[], work: () => T): T => {
  if (tracer === null) return work();
  const [first, ...others] = items
    .flatMap((item) => waiting.get(item) ?? [])
    .filter((span) => span.isRecording());
  if (first === undefined) return work();
  const links = others.map((span) => ({ context: span.spanContext() }));
  const attributes = attributesOf({ 'svc.batch.size': items.length });
  return inSpan(tracer, name, { links, attributes }, trace.setSpan(ROOT_CONTEXT, first), (batch) => {
    for (const span of others) span.addLink({ context: batch.spanContext() });
    return work();
  });
};

/** Adds attributes to the active span. Callers test `isTracing` first where building `facts` is expensive. */
export const noteOnSpan = (facts: SpanFacts): void => {
  if (tracer !== null) trace.getActiveSpan()?.setAttributes(attributesOf(facts));
};

/** The trace id of the active span, or null. */
export const activeTraceId = (): string | null =>
  tracer === null ? null : (trace.getActiveSpan()?.spanContext().traceId ?? null);

/**
 * The `traceparent` header for a call to another host, or null. The caller's `tracestate` and baggage are not passed
 * on, because the caller chooses their text and the other host belongs to another party.
 */
export const traceparent = (): string | null => {
  const span = tracer === null ? undefined : trace.getActiveSpan()?.spanContext();
  if (span === undefined) return null;
  return `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`;
};

/** The caller's context, without its `tracestate`, which would be exported with every span. */
const callerOf = (headers: Readonly<Record<string, unknown>>): Context => {
  const caller = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
  if (caller === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, traceFlags } = caller;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
};

const inSpan = <T>(
  by: Tracer,
  name: string,
  options: SpanOptions,
  parent: Context,
  work: (span: Span) => T,
): T => {
  const span = by.startSpan(name, options, parent);
  return context.with(trace.setSpan(parent, span), () => {
    try {
      const result = work(span);
      if (!(result instanceof Promise)) span.end();
      else
        result.then(
          () => span.end(),
          (error: unknown) => endFailed(span, error),
        );
      return result;
    } catch (error) {
      endFailed(span, error);
      throw error;
    }
  });
};

/** Ends a span with the error's code or name, not with its message, which may quote the request. */
const endFailed = (span: Span, error: unknown): void => {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const type = [code, name].find((text) => typeof text === 'string') ?? 'unknown';
  span.setAttribute('error.type', type as string);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const attributesOf = (facts: SpanFacts): Attributes => ({ ...facts });
