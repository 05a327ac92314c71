/**
 * Spans at the seams, by the API of OpenTelemetry. Off until a process that exports them turns it on; while it is off a
 * seam asks one boolean and nothing is made. What a span may say is a closed list: nothing that is anybody's is on it.
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

/** No credential, DID, Grant, resource or amount; a host is one that the service asked over the network. */
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
/** By what is waited for, as long as somebody waits. */
const waiting = new WeakMap<object, Span>();

/** Null turns it off. Whoever calls it has registered a context manager and a propagator. */
export const traceWith = (one: Tracer | null): void => {
  tracer = one;
};

export const isTracing = (): boolean => tracer !== null;

/** Does `work` as a part of what is under way. */
export const traced = <T>(name: string, work: () => T): T =>
  tracer === null ? work() : inSpan(tracer, name, {}, context.active(), work);

/** The same for a call to another service; `facts` are of the call. */
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

/** The same for a request: a part of the caller's trace where its headers name one (W3C Trace Context). */
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

/** `work` waits for `item` to be done together with others. */
export const tracedItem = <T>(name: string, item: object, work: () => T): T => {
  if (tracer === null) return work();
  return inSpan(tracer, name, {}, context.active(), (span) => {
    waiting.set(item, span);
    return work();
  });
};

/**
 * What is done at once for many: a part of the trace of the first who waits and is recorded, linked with those of the
 * others in both directions. If nobody's is recorded, neither is this.
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

/** Adds to the innermost span. Asks `isTracing` first where making `facts` costs anything. */
export const noteOnSpan = (facts: SpanFacts): void => {
  if (tracer !== null) trace.getActiveSpan()?.setAttributes(attributesOf(facts));
};

/** The trace id of the innermost span, or null. */
export const activeTraceId = (): string | null =>
  tracer === null ? null : (trace.getActiveSpan()?.spanContext().traceId ?? null);

/**
 * The header for whoever is asked next, or null. The `tracestate` and the baggage of a caller end here: they are text of
 * its own choosing, and who is asked is somebody else.
 */
export const traceparent = (): string | null => {
  const span = tracer === null ? undefined : trace.getActiveSpan()?.spanContext();
  if (span === undefined) return null;
  return `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`;
};

/** Without its `tracestate`, which would be exported with every span. */
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

/** By its code or name: a message may quote what was sent. */
const endFailed = (span: Span, error: unknown): void => {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const type = [code, name].find((text) => typeof text === 'string') ?? 'unknown';
  span.setAttribute('error.type', type as string);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const attributesOf = (facts: SpanFacts): Attributes => ({ ...facts });
