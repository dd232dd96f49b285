/** Exports spans of requests to an OpenTelemetry collector. Loaded only with UNDERTONE_OTLP_URL. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import type { Stage } from '../engine/index.ts';
import { version } from '../node/paths.ts';

/** Times are ms since 1970. */
type RequestSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly requestId: string;
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly stages: readonly Stage[];
};

export type TraceExport = {
  /** Exports the span within seconds, and one span per stage. */
  add(span: RequestSpan): void;
  /** Exports what is left. */
  close(): Promise<void>;
};

const resource = resourceFromAttributes({ 'service.name': 'undertone', 'service.version': version });

export function openTraceExport(url: string): TraceExport {
  const random = new RandomIdGenerator();
  let next: Pick<RequestSpan, 'traceId' | 'spanId'> | null = null;
  const idGenerator = {
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
  };
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter({ url }))];
  const provider = new BasicTracerProvider({ resource, idGenerator, spanProcessors });
  const tracer = provider.getTracer('undertone', version);

  /** The ids of the response, which are those of `traceparent`. */
  function startRequest(span: RequestSpan) {
    const { traceId, parentSpanId, method, route, status, requestId, startedAt: startTime } = span;
    const remote = { traceId, spanId: parentSpanId ?? '', traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const parent = parentSpanId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'undertone.request_id': requestId,
    };
    next = span;
    const started = tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, startTime, attributes },
      parent,
    );
    next = null;
    return started;
  }

  return {
    add(span) {
      const request = startRequest(span);
      const context = trace.setSpan(ROOT_CONTEXT, request);
      // Stages follow one another up to the response.
      let startTime = span.endedAt - span.stages.reduce((sum, { ms }) => sum + ms, 0);
      for (const { name, ms } of span.stages) {
        const stage = tracer.startSpan(name, { startTime }, context);
        startTime += ms;
        stage.end(startTime);
      }
      if (span.status >= 500) request.setStatus({ code: SpanStatusCode.ERROR });
      request.end(span.endedAt);
    },
    close: () => provider.shutdown(),
  };
}
