/** W3C Trace Context: each request belongs to the trace of its `traceparent`, or to a new one. */
import { randomUUID } from 'node:crypto';
import type { Context, Middleware, Next } from 'koa';
import type { TraceExport } from '../traces.ts';
import { type State, statusOf } from './context.ts';

type TraceContext = {
  readonly traceId: string;
  /** Of the span of this request. */
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly sampled: boolean;
};

/** Later versions may append fields. */
const pattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** @param sampleNew whether a trace that starts here is sampled */
export function toTraceContext(traceparent: string, sampleNew: boolean): TraceContext {
  const spanId = randomHex(16);
  const [, version, traceId, parentSpanId, flags = '', rest] = pattern.exec(traceparent) ?? [];
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && rest !== undefined)) {
    return { traceId: randomHex(32), spanId, parentSpanId: null, sampled: sampleNew };
  }
  return { traceId, spanId, parentSpanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Node.js draws the random bytes of 128 UUIDs at once: drawing them per request takes a tenth of the main thread's time. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll('-', '').slice(0, digits);
}

/**
 * @param exporter null exports nothing
 * @param untraced routes whose requests are not exported
 */
export function traceRequests(
  exporter: TraceExport | null,
  untraced: ReadonlySet<string>,
): Middleware<State> {
  return async function trace(context: Context, next: Next) {
    const trace = toTraceContext(context.get('traceparent'), exporter !== null);
    context.set('traceparent', `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`);
    if (trace.parentSpanId !== null || trace.sampled) context.state.traceId = trace.traceId;
    await next();
    const route = typeof context._matchedRoute === 'string' ? context._matchedRoute : 'other';
    if (exporter === null || !trace.sampled || untraced.has(route)) return;
    const { requestId, startedAt, stages } = context.state;
    exporter.add({
      ...trace,
      requestId,
      stages,
      route,
      method: context.method,
      status: statusOf(context),
      startedAt: performance.timeOrigin + startedAt,
      endedAt: performance.timeOrigin + performance.now(),
    });
  };
}
