/** Which answers are asked for again, and when. */
const retried = [500, 503];
/** Waits 1, 2, 4 s and so on, or as long as `Retry-After` says where that is longer. */
export async function withRetries(attempt, { retries, signal }) {
    for (let done = 0;; done++) {
        const response = await attempt();
        if (done >= retries || !retried.includes(response.status))
            return response;
        await response.body?.cancel();
        await sleep(Math.max(1000 * 2 ** done, askedFor(response.headers.get('Retry-After'))), signal);
    }
}
/** Milliseconds; the header holds seconds or a date. */
function askedFor(retryAfter) {
    if (retryAfter === null)
        return 0;
    const ms = /^\d+$/.test(retryAfter) ? 1000 * Number(retryAfter) : Date.parse(retryAfter) - Date.now();
    return Number.isFinite(ms) ? ms : 0;
}
function sleep(ms, signal) {
    return new Promise((resolve, reject) => {
        const end = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', end);
            resolve();
        }, ms);
        if (signal?.aborted)
            end();
        else
            signal?.addEventListener('abort', end, { once: true });
    });
}
