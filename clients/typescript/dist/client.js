import { makeForm } from "./form.js";
import { createJobs } from "./jobs.js";
import { baseOf, defaultTimeoutMs, request, toJson } from "./request.js";
import { openSession, } from "./stream.js";
export function createClient(options) {
    const analyze = async (path, audio, how = {}) => request(path, { method: 'POST', body: await makeForm(audio, how) }, { ...options, ...how });
    const createStreamToken = (scopes = {}, how = {}) => request('v1/stream/tokens', { method: 'POST', ...toJson(scopes) }, { ...options, ...how });
    return {
        analyze: (audio, how) => analyze('v1/analyze', audio, how),
        analyzeChannels: (audio, how) => analyze('v1/analyze', audio, { ...how, channels: 'split' }),
        analyzeSpeakers: (audio, how) => analyze('v1/analyze', audio, how),
        emotion: (audio, how) => analyze('v1/analyze/emotion', audio, how),
        cognitive: (audio, how) => analyze('v1/analyze/cognitive', audio, how),
        embed: (audio, how) => analyze('v1/embed', audio, how),
        jobs: createJobs(options),
        usage: (how) => request('v1/usage', {}, { ...options, ...how }),
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
