/** One live session: samples -> messages and a report. */
import { NoAnswerError, SessionEndedError, toApiError } from "./errors.js";
const maxFrameBytes = 2 ** 20;
/** Sent and not transmitted, above which `send` waits. */
const maxBufferedBytes = 256 * 1024;
const drainPollMs = 20;
/** Resolves when the session is configured. */
export async function openSession(config, connection) {
    const { url, token, WebSocket, timeoutMs, signal } = connection;
    const place = new URL('v1/stream', url);
    place.protocol = place.protocol.replace('http', 'ws');
    const session = new Session(new WebSocket(place, ['undertone.v1', token]), config, url.origin);
    const late = new NoAnswerError(`Expected a session within ${timeoutMs} ms from ${url.origin}, got none`);
    const timer = setTimeout(() => session.abort(late), timeoutMs);
    const abort = () => session.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    session.over.finally(() => signal?.removeEventListener('abort', abort)).catch(() => { });
    if (signal?.aborted)
        abort();
    await session.ready.finally(() => clearTimeout(timer));
    return session;
}
class Session {
    /** Resolves with the first message. */
    ready;
    /** Resolves with the report when the session is over. */
    over;
    #socket;
    #origin;
    #messages;
    #queue;
    #onReady;
    #resolve;
    #reject;
    #report;
    #failure;
    /** Error of `send`; not undefined once the session is over. */
    #ended;
    #keepAlive;
    #isEnding = false;
    #isIdle = false;
    constructor(socket, config, origin) {
        this.#socket = socket;
        this.#origin = origin;
        const messages = new ReadableStream({
            start: (controller) => {
                this.#queue = controller;
            },
        });
        this.#messages = messages.getReader();
        this.over = new Promise((resolve, reject) => {
            [this.#resolve, this.#reject] = [resolve, reject];
        });
        this.over.catch(() => { });
        this.ready = new Promise((resolve, reject) => {
            this.#onReady = resolve;
            this.over.catch(reject);
        });
        socket.addEventListener('open', () => this.#sendMessage({ type: 'session.configure', ...config }));
        socket.addEventListener('message', ({ data }) => this.#onMessage(JSON.parse(String(data))));
        socket.addEventListener('error', (event) => this.#onError(event));
        socket.addEventListener('close', ({ code, reason }) => this.#onClose(code, reason));
    }
    async send(samples) {
        if (this.#ended !== undefined)
            throw this.#ended;
        const bytes = toBytes(samples);
        for (let at = 0; at < bytes.length; at += maxFrameBytes) {
            this.#socket.send(bytes.subarray(at, at + maxFrameBytes));
        }
        this.#isIdle = false;
        while (this.#ended === undefined && this.#socket.bufferedAmount > maxBufferedBytes) {
            await new Promise((resolve) => setTimeout(resolve, drainPollMs));
        }
        if (this.#ended !== undefined)
            throw this.#ended;
    }
    turnEnd() {
        if (this.#ended !== undefined)
            throw this.#ended;
        this.#sendMessage({ type: 'turn.end' });
    }
    end() {
        if (!this.#isEnding && this.#ended === undefined)
            this.#sendMessage({ type: 'session.end' });
        this.#isEnding = true;
        return this.over;
    }
    async *[Symbol.asyncIterator]() {
        for (;;) {
            const { done, value } = await this.#messages.read();
            if (done)
                break;
            yield value;
        }
        if (this.#failure !== undefined)
            throw this.#failure;
    }
    /** Ends the session without its report. */
    abort(reason) {
        this.#failure ??= reason;
        this.#finish(reason);
        this.#socket.close();
    }
    #sendMessage(message) {
        this.#socket.send(JSON.stringify(message));
    }
    #onMessage(message) {
        if (this.#ended !== undefined)
            return;
        if (message.type === 'error') {
            const { status, request_id } = message;
            this.#failure = toApiError(status, message, request_id);
            return;
        }
        this.#queue.enqueue(message);
        if (message.type === 'session.ready')
            this.#onConfigured(message.limits.idle_s);
        if (message.type === 'final')
            this.#report = message.report;
    }
    #onConfigured(idleSeconds) {
        this.#onReady();
        this.#keepAlive = setInterval(() => {
            if (this.#isIdle && !this.#isEnding)
                this.#sendMessage({ type: 'keep_alive' });
            this.#isIdle = true;
        }, (1000 * idleSeconds) / 4);
    }
    #onError(event) {
        const cause = 'error' in event ? event.error : event;
        const message = `Expected an open session from ${this.#origin}, got a refused or lost connection`;
        this.#failure ??= new NoAnswerError(message, { cause });
    }
    #onClose(code, reason) {
        const isLost = code === 1006;
        if (isLost)
            this.#onError({ error: undefined });
        const ended = new SessionEndedError(code, reason);
        if (this.#report === undefined)
            this.#failure ??= ended;
        this.#finish(this.#failure ?? ended);
    }
    #finish(ended) {
        if (this.#ended !== undefined)
            return;
        this.#ended = ended;
        clearInterval(this.#keepAlive);
        this.#queue.close();
        if (this.#report !== undefined)
            this.#resolve(this.#report);
        else
            this.#reject(this.#failure);
    }
}
function toBytes(samples) {
    const view = samples instanceof ArrayBuffer
        ? { buffer: samples, byteOffset: 0, byteLength: samples.byteLength }
        : samples;
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
