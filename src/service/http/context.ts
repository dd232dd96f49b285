/** What the middleware of one request shares: state, responses, trace context. */

import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import type { Stage } from '../../engine/index.ts';
import type { Principal } from '../auth/tokens.ts';
import type { TraceExport } from '../traces.ts';

// State that the middleware of one request shares.

export type State = {
  /** Set on paths that require a token. */
  principal?: Principal;
  requestId: string;
  /** Of the caller's `traceparent`, or of the exported trace that begins here; null for others. */
  traceId: string | null;
  /** On the clock of performance.now(). */
  startedAt: number;
  stages: Stage[];
  /** Duration of the analysed recording. */
  audioSeconds: number;
  /** The client closed the connection before the response. */
  clientAborted: boolean;
};

/** 499 when the client closed the connection before the response. */
export function statusOf({ state, status }: Context): number {
  return state.clientAborted ? 499 : status;
}

/** Sends no response, since the client closed the connection. */
export function markAborted(context: Context): void {
  context.state.clientAborted = true;
  context.respond = false;
}

// Responses that several routes share.

/** A response body that clients revalidate by its ETag. */
export type TaggedBody = { readonly bytes: Buffer; readonly type: string; readonly tag: string };

export function tagBody(content: string | Buffer, type: string): TaggedBody {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { bytes, type, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

const sliceBytes = 65_536;

/** Lets the event loop turn after each slice: the kernel may take all of them at once. */
async function* slicesOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += sliceBytes) {
      yield part.subarray(at, at + sliceBytes);
      await setImmediate();
    }
  }
}

/** Sends bytes that responses share, without a copy: one slice at a time waits for the client. */
export function sendShared(context: Context, parts: readonly Buffer[]): void {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const isLong = bytes > sliceBytes;
  context.body = isLong ? Readable.from(slicesOf(parts), { objectMode: false }) : Buffer.concat(parts);
  context.length = bytes;
}

/** Sends 304 when the client has the current version. */
export function sendTagged(context: Context, { bytes, type, tag }: TaggedBody, cacheControl: string): void {
  context.set({ 'Content-Type': type, 'Cache-Control': cacheControl, ETag: tag });
  context.status = 200;
  if (context.fresh) context.status = 304;
  else sendShared(context, [bytes]);
}

/** Sends serialized JSON. */
export function sendJson(context: Context, json: string): void {
  context.set('Content-Type', 'application/json');
  context.body = json;
}

/** Sends JSON that no cache may store. A string is serialized JSON. */
export function sendPrivateJson(context: Context, body: object | string): void {
  context.set('Cache-Control', 'no-store');
  sendJson(context, typeof body === 'string' ? body : JSON.stringify(body));
}

// W3C Trace Context: each request belongs to the trace of its `traceparent`, or to a new one.

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
