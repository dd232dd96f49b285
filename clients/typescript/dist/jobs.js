import { JobFailedError } from "./errors.js";
import { makeForm } from "./form.js";
import { defaultTimeoutMs, request, toJson } from "./request.js";
import { sleep } from "./retry.js";
const uploadTimeoutMs = 600_000;
const firstDelayMs = 500;
export function createJobs(client) {
    const call = (path, content, options) => request(path, content, { ...client, ...options });
    const get = (id, { waitSeconds = 0, ...options } = {}) => call(`${pathOf(id)}${waitSeconds > 0 ? `?wait=${Math.ceil(waitSeconds)}` : ''}`, {}, { timeoutMs: (client.timeoutMs ?? defaultTimeoutMs) + 1000 * waitSeconds, ...options });
    return {
        async submit(audio, { callback, idempotencyKey, ...options } = {}) {
            const body = await makeForm(audio, options);
            if (callback !== undefined)
                body.append('callback', callback);
            const content = { method: 'POST', body, headers: keyHeader(idempotencyKey) };
            return call('v1/jobs', content, { timeoutMs: client.timeoutMs ?? uploadTimeoutMs, ...options });
        },
        submitUrls(urls, { idempotencyKey, signal, timeoutMs, ...fields } = {}) {
            const { body, headers } = toJson({ urls, ...fields });
            const content = { method: 'POST', body, headers: { ...headers, ...keyHeader(idempotencyKey) } };
            return call('v1/jobs', content, defined({ signal, timeoutMs }));
        },
        get,
        async wait(id, { onProgress, maxDelayMs = 5000, ...options } = {}) {
            let last = '';
            const maxWaitMs = Math.min(maxDelayMs, (options.timeoutMs ?? Number.POSITIVE_INFINITY) / 2);
            const waitSeconds = Math.floor(maxWaitMs / 1000);
            for (let delayMs = firstDelayMs;; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
                const askedAt = Date.now();
                const job = await get(id, { ...options, waitSeconds: last === '' ? 0 : waitSeconds });
                const state = JSON.stringify([job.status, job.progress]);
                if (state !== last)
                    onProgress?.(job);
                last = state;
                if (job.result != null)
                    return job.result;
                if (job.status === 'failed' || job.status === 'cancelled')
                    throw new JobFailedError(job);
                await sleep(Math.max(0, delayMs - (Date.now() - askedAt)), options.signal);
            }
        },
        async *list(options) {
            for (let path = '/v1/jobs'; path !== null;) {
                const page = await call(path.slice(1), {}, options);
                yield* page.jobs;
                path = page.next;
            }
        },
        async cancel(id, options) {
            await call(pathOf(id), { method: 'DELETE' }, options);
        },
    };
}
const pathOf = (id) => `v1/jobs/${encodeURIComponent(id)}`;
/** A request that is retried after a lost connection creates one job. */
function keyHeader(key = randomKey()) {
    return { 'Idempotency-Key': key };
}
/** `crypto.randomUUID` exists on secure pages alone. */
function randomKey() {
    return Array.from({ length: 4 }, () => Math.random().toString(36).slice(2)).join('');
}
function defined(options) {
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
