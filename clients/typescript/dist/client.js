import { NoAnswerError, readError } from "./errors.js";
import { readRecording } from "./recording.js";
import { withRetries } from "./retry.js";
export function createClient(options) {
    const call = (path, audio, how = {}) => post(path, audio, { ...options, ...how });
    return {
        analyze: (audio, how) => call('v1/analyze', audio, how),
        emotion: (audio, how) => call('v1/analyze/emotion', audio, how),
        cognitive: (audio, how) => call('v1/analyze/cognitive', audio, how),
    };
}
async function post(path, audio, options) {
    const { url, token, retries = 3, signal } = options;
    const request = {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: await makeForm(audio, options),
    };
    const place = new URL(path, `${String(url).replace(/\/*$/, '')}/`);
    const response = await withRetries(() => send(place, request, options), { retries, signal });
    if (!response.ok)
        throw await readError(response);
    return (await response.json());
}
async function makeForm(audio, { baseline, channel, timeline }) {
    const form = new FormData();
    form.append('audio', await readRecording(audio));
    if (baseline !== undefined)
        form.append('baseline', await readRecording(baseline));
    if (channel !== undefined)
        form.append('channel', String(channel));
    if (timeline !== undefined)
        form.append('timeline', timeline);
    return form;
}
/** The body of an answer is small, and read within the same time. */
async function send(place, request, options) {
    const { signal, timeoutMs = 60_000 } = options;
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
