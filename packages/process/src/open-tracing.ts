/**
 * Traces of a process, exported by OTLP over HTTP if the standard variables of OpenTelemetry name a receiver. Without
 * one, no tracing code is loaded.
 */
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Environment } from '@svc/config';
import { traceWith, withinMs } from '@svc/service';
import type { Logger } from 'pino';
import { ConfigurationError } from './configuration.ts';

export interface Tracing {
  /** Exports the spans that have ended; takes 5 s at most. */
  close(): Promise<void>;
}

const OFF: Tracing = { close: async () => {} };
const CLOSE_WITHIN_MS = 5_000;
const PROBLEM_CHARS = 300;

/**
 * `env` is the environment of the process: the exporter itself reads endpoint, headers, time-out and compression from
 * there. Throws `ConfigurationError`.
 */
export const openTracing = async (
  env: Environment,
  serviceName: string,
  logger: Logger,
): Promise<Tracing> => {
  if (!isConfigured(env)) return OFF;
  const [api, hooks, core, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const provider = new sdk.TracerProvider({
    resource: await resourceOf(serviceName),
    sampler: samplerOf(env, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: await createExporter(env), ...batchingOf(env) })],
  });
  const warn = (problem: string) =>
    logger.warn({ problem: problem.slice(0, PROBLEM_CHARS) }, 'traces.not_exported');
  const silent = () => {};
  api.diag.setLogger(
    { error: warn, warn: silent, info: silent, debug: silent, verbose: silent },
    api.DiagLogLevel.ERROR,
  );
  // Baggage is not accepted, since the caller chooses its text.
  api.propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  api.context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  traceWith(provider.getTracer('svc'));
  return {
    close: async () => {
      traceWith(null);
      const closing = withinMs(CLOSE_WITHIN_MS, provider.shutdown(), () => warn('no answer in time'));
      await closing.catch((error: unknown) => warn(String(error)));
      for (const part of [api.context, api.propagation, api.diag]) part.disable();
    },
  };
};

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

const isConfigured = (env: Environment): boolean =>
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  env.OTEL_TRACES_EXPORTER !== 'none' &&
  ENDPOINTS.some((name) => (env[name] ?? '') !== '');

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` take precedence over our own name. */
const resourceOf = async (serviceName: string) => {
  const resources = await import('@opentelemetry/resources');
  return resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ 'service.name': serviceName }))
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
};

const createExporter = async (env: Environment) => {
  const protocol =
    env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter();
  }
  if (protocol !== 'http/protobuf')
    throw new ConfigurationError([
      `OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not ${JSON.stringify(protocol)}`,
    ]);
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
};

/**
 * `OTEL_BSP_SCHEDULE_DELAY`: milliseconds for which spans are gathered; the library does not read the variable itself.
 */
const batchingOf = ({ OTEL_BSP_SCHEDULE_DELAY: text = '' }: Environment) => {
  if (text === '') return {};
  const scheduledDelayMillis = Number(text);
  if (!Number.isInteger(scheduledDelayMillis) || scheduledDelayMillis < 1)
    throw new ConfigurationError(['OTEL_BSP_SCHEDULE_DELAY must be a number of milliseconds, 1 or more']);
  return { scheduledDelayMillis };
};

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

/**
 * `OTEL_TRACES_SAMPLER` and its `_ARG`; default `traceidratio` with 1. Callers are not trusted: their `sampled` flag
 * and their trace id are ignored, unless a sampler named `parentbased_…` says to follow them. So the ratio is drawn
 * where a trace enters the service, and the spans below follow that result.
 */
const samplerOf = (env: Environment, sdk: typeof import('@opentelemetry/sdk-trace')) => {
  const name = env.OTEL_TRACES_SAMPLER || 'traceidratio';
  const follows = name.startsWith('parentbased_');
  const own = SAMPLERS.find((one) => name === one || name === `parentbased_${one}`);
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || '1');
  const faults: string[] = [];
  if (own === undefined)
    faults.push(
      `OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}, or one of these after parentbased_`,
    );
  if (!(ratio >= 0 && ratio <= 1)) faults.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  if (faults.length > 0) throw new ConfigurationError(faults);
  const { NOT_RECORD, RECORD_AND_SAMPLED } = sdk.SamplingDecision;
  const drawn: Sampler = {
    shouldSample: () => ({ decision: Math.random() < ratio ? RECORD_AND_SAMPLED : NOT_RECORD }),
    toString: () => `Drawn{${ratio}}`,
  };
  const root = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => (follows ? new sdk.TraceIdRatioBasedSampler(ratio) : drawn),
  }[own ?? 'always_on']();
  const ofStrangers = follows ? {} : { remoteParentSampled: root, remoteParentNotSampled: root };
  return new sdk.ParentBasedSampler({ root, ...ofStrangers });
};
