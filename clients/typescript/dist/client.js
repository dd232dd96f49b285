import { NoAnswerError, readError } from "./errors.js";
import { readRecording } from "./recording.js";
import { withRetries } from "./retry.js";
import { openSession, } from "./stream.js";
const defaultTimeoutMs = 60_000;
export function createClient(options) {
    const analyze = async (path, audio, how = {}) => post(path, { body: await makeForm(audio, how) }, { ...options, ...how });
    const createStreamToken = (request = {}, how = {}) => post('v1/stream/tokens', toJson(request), { ...options, ...how });
    return {
        analyze: (audio, how) => analyze('v1/analyze', audio, how),
        analyzeChannels: (audio, how) => analyze('v1/analyze', audio, { ...how, channels: 'split' }),
        analyzeSpeakers: (audio, how) => analyze('v1/analyze', audio, how),
        emotion: (audio, how) => analyze('v1/analyze/emotion', audio, how),
        cognitive: (audio, how) => analyze('v1/analyze/cognitive', audio, how),
        createStreamToken,
        stream: async (config, { token, signal, timeoutMs = options.timeoutMs ?? defaultTimeoutMs } = {}) => {
            const WebSocket = options.WebSocket ?? globalWebSocket();
            const how = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
            const own = token ?? (await createStreamToken({}, how)).token;
            return openSession(config, { url: baseOf(options), token: own, WebSocket, timeoutMs, signal });
        },
    };
}
function globalWebSocket() {
    const { WebSocket } = globalThis;
    if (WebSocket !== undefined)
        return WebSocket;
    throw new TypeError('Expected the option `WebSocket` in Node before 22, got none: pass that of the package ws');
}
function baseOf({ url }) {
    return new URL(`${String(url).replace(/\/*$/, '')}/`);
}
function toJson(value) {
    return { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } };
}
async function post(path, content, options) {
    const { token, retries = 3, signal } = options;
    const headers = {
        ...content.headers,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    };
    const request = { ...content, method: 'POST', headers };
    const place = new URL(path, baseOf(options));
    const response = await withRetries(() => send(place, request, options), { retries, signal });
    if (!response.ok)
        throw await readError(response);
    return (await response.json());
}
async function makeForm(audio, { baseline, channel, channels, segments, timeline }) {
    const form = new FormData();
    form.append('audio', await readRecording(audio));
    if (baseline !== undefined)
        form.append('baseline', await readRecording(baseline));
    if (channel !== undefined)
        form.append('channel', String(channel));
    if (channels !== undefined)
        form.append('channels', channels);
    if (segments !== undefined) {
        form.append('segments', typeof segments === 'string' ? segments : JSON.stringify(segments));
    }
    if (timeline !== undefined)
        form.append('timeline', timeline);
    return form;
}
/** The body of an answer is small, and read within the same time. */
async function send(place, request, options) {
    const { signal, timeoutMs = defaultTimeoutMs } = options;
    const over = new AbortController();
    const late = new NoAnswerError(`Expected an answer within ${timeoutMs} ms from ${place.origin}, got none`);
    const timer = setTimeout(() => over.abort(late), timeoutMs);
    const end = () => over.abort(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted)
        end();
    try {
        const response = await fetch(place, { ...request, signal: over.signal });
        return new Response(await response.arrayBuffer(), response);
    }
    catch (cause) {
        if (over.signal.aborted)
            throw over.signal.reason;
        throw new NoAnswerError(`Expected an answer from ${place.origin}, got none`, { cause });
    }
    finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
    }
}
