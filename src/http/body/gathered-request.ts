/**
 * A request that coalesces small chunks of a chunked body (RFC 9112, section 7.1). The HTTP parser of Node.js has a cost per chunk,
 * and one socket read holds up to 11,000 chunks: small chunks are concatenated and delivered after one read at a time, so that the
 * event loop serves other connections in between. A body of chunks of a few bytes is refused.
 */
import { IncomingMessage } from 'node:http';
import { streamPath } from '../../stream/protocol.ts';

/** Event, emitted at most once, when the chunks are too small; the rest of the body is dropped. */
export const chunksTooSmall = 'chunksTooSmall';

/** Chunks of at least this length are delivered unchanged. */
const minDirectBytes = 1024;
const minAverageBytes = 8;
/** Chunks that may be shorter than the average. */
const maxTinyChunks = 4096;

/** Error message for the client. */
export const expectedChunks = `Expected chunks of at least ${minAverageBytes} bytes on average for \`body\`, got smaller ones`;

export class GatheredRequest extends IncomingMessage {
  /** Set by the constructor of IncomingMessage: an initializer would reset it. */
  declare private upgradeRequested: boolean;
  /** Received bytes of the body. */
  bodyBytes = 0;
  #gathered: Buffer[] = [];
  #deliveryScheduled = false;
  #refused = false;
  /** Remaining tiny chunks; each byte adds 1 / minAverageBytes. */
  #credit = maxTinyChunks;

  /**
   * Set and read by the HTTP parser: whether the connection leaves HTTP. Other paths ignore `Upgrade` (RFC 9110, section
   * 7.8), as they do without a listener of `upgrade`.
   */
  get upgrade(): boolean {
    return this.upgradeRequested && (this.method === 'CONNECT' || this.url?.split('?', 1)[0] === streamPath);
  }

  set upgrade(value: boolean) {
    this.upgradeRequested = value;
  }

  /** Called by the HTTP parser; false pauses the socket until the stream reads again. */
  override push(chunk: Buffer | null): boolean {
    this.bodyBytes += chunk?.length ?? 0;
    if (chunk === null || chunk.length >= minDirectBytes || !this.#isChunked()) {
      this.#deliver();
      return super.push(chunk);
    }
    if (this.#refused) return false;
    this.#credit = Math.min(maxTinyChunks, this.#credit + chunk.length / minAverageBytes) - 1;
    if (this.#credit < 0) this.#refuse();
    else this.#gather(chunk);
    return false;
  }

  #isChunked(): boolean {
    return this.headers['transfer-encoding'] !== undefined;
  }

  #gather(chunk: Buffer): void {
    this.#gathered.push(chunk);
    if (this.#deliveryScheduled) return;
    this.#deliveryScheduled = true;
    setImmediate(() => {
      this.#deliveryScheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    if (this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    if (!this.destroyed) super.push(bytes);
  }

  #refuse(): void {
    this.#refused = true;
    this.#gathered = [];
    this.emit(chunksTooSmall);
  }
}
