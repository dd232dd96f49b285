/**
 * A request whose body may come in small chunks (RFC 9112, section 7.1). The HTTP parser of Node.js has a cost per chunk, and a read
 * from the socket holds up to 11,000 of them: small ones are gathered and delivered together, after one read at a time, so that other
 * connections have their turn. A body in chunks of a few bytes is refused.
 */
import { IncomingMessage } from 'node:http';

/** Emitted at most once, when the chunks are too small; the rest of the body is dropped. */
export const chunksTooSmall = 'chunksTooSmall';

/** Chunks of at least this length are delivered as they come. */
const smallBytes = 1024;
/** Chunks may be shorter than this on average ... */
const minAverageBytes = 8;
/** ... for so many of them. */
const maxTinyChunks = 4096;

/** What a client is told. */
export const expectedChunks = `Expected chunks of at least ${minAverageBytes} bytes on average for \`body\`, got smaller ones`;

export class GatheredRequest extends IncomingMessage {
  #gathered: Buffer[] = [];
  #deliveryPlanned = false;
  #refused = false;
  /** How many more chunks may be tiny; each byte earns a part of a chunk. */
  #credit = maxTinyChunks;

  /** Called by the HTTP parser; false stops reading from the socket until the stream asks for more. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= smallBytes || !this.#isChunked()) {
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
    if (this.#deliveryPlanned) return;
    this.#deliveryPlanned = true;
    setImmediate(() => {
      this.#deliveryPlanned = false;
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
