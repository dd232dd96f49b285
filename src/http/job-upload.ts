/** The body of a job: its recordings go on piece by piece as they come, so that an upload of hours is never held. */
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { type Failure, invalidPart } from '../errors.ts';
import { createPartDigest, digestRequest } from '../jobs/digest.ts';
import { type PartName, pieceBytes, type Sizes } from '../jobs/waiting.ts';
import { channelNumber, checkType, noBytes } from '../workers/form.ts';
import { type BodyLimits, guardBody } from './body-guard.ts';
import { overByteShare } from './byte-budget.ts';
import { tooLarge } from './upload.ts';

export type JobForm = {
  readonly sizes: Sizes;
  readonly channel: number | null;
  readonly callback: string | null;
  /** Of the request: `JobRequest.digest`. */
  readonly digest: string;
};

export type JobUploadOptions = BodyLimits & {
  /** Key of the digest. */
  readonly digestKey: Uint8Array;
  /** Of both recordings together. */
  readonly maxBytes: number;
  /** Reserves memory for bytes that arrived; false when there is none. */
  reserve(bytes: number): boolean;
  keep(part: PartName, index: number, bytes: Uint8Array): Promise<void>;
};

const mostParts = 64;
const mostTextBytes = 4096;
/** What the reader takes a part for that declares no type. */
const undeclared = 'text/plain';

type PartStream = AsyncIterable<Buffer> & {
  resume(): unknown;
  on(event: 'error', hear: () => void): unknown;
};

/** Null when the client left before the end. @throws Failure */
export function collectJob(request: IncomingMessage, options: JobUploadOptions): Promise<JobForm | null> {
  let over = false;
  // What the reader still has when the upload was given up would come after it was dropped.
  const keep: typeof options.keep = async (...piece) => (over ? undefined : options.keep(...piece));
  const form = createForm({ ...options, keep });
  const reader = Busboy({
    headers: request.headers as BusboyHeaders,
    isPartAFile: () => true,
    limits: { parts: mostParts },
  });
  return new Promise((resolve, reject) => {
    const stopGuard = guardBody(request, options, fail);
    let work: Promise<unknown> = Promise.resolve();
    function detach(): void {
      over = true;
      stopGuard();
      request.unpipe(reader);
      request.off('data', reserve).off('close', leave);
      request.on('error', () => {});
    }
    function reserve({ length }: Buffer): void {
      if (!options.reserve(length)) fail(overByteShare());
    }
    function fail(error: unknown): void {
      detach();
      reject(error);
    }
    function leave(): void {
      if (request.complete) return;
      detach();
      resolve(null);
    }
    reader.on('file', (name, stream, _file, _encoding, type) => {
      work = work.then(() => form.take(name, stream, type));
      work.catch(fail);
    });
    reader.on('error', () => fail(broken()));
    reader.on('finish', () => {
      work.then(form.finish).then((whole) => {
        detach();
        resolve(whole);
      }, fail);
    });
    request.on('close', leave);
    request.on('data', reserve);
    request.pipe(reader);
    if (request.destroyed) {
      detach();
      resolve(null);
    }
  });
}

/** The first part of each name counts, others are ignored. */
function createForm({ maxBytes, digestKey, keep }: JobUploadOptions) {
  const sizes: Record<PartName, number> = { audio: -1, baseline: -1 };
  const digests: Partial<Record<PartName, string>> = {};
  const words: { channel?: string; callback?: string } = {};
  let total = 0;

  async function store(part: PartName, stream: PartStream): Promise<void> {
    sizes[part] = 0;
    const digest = createPartDigest(digestKey, part);
    let index = 0;
    let open: Buffer[] = [];
    let filled = 0;
    const seal = async () => {
      const piece = Buffer.concat(open, filled);
      open = [];
      filled = 0;
      await keep(part, index++, piece);
    };
    for await (const chunk of stream) {
      total += chunk.length;
      if (total > maxBytes) throw tooLarge(maxBytes);
      sizes[part] += chunk.length;
      digest.update(chunk);
      open.push(chunk);
      filled += chunk.length;
      if (filled >= pieceBytes) await seal();
    }
    if (filled > 0) await seal();
    if (sizes[part] === 0) throw noBytes(part);
    digests[part] = digest.digest('hex');
  }

  return {
    async take(name: string, stream: PartStream, type: string): Promise<void> {
      stream.on('error', () => {});
      if ((name === 'audio' || name === 'baseline') && sizes[name] < 0) {
        checkType(name, type === undeclared ? null : type);
        return store(name, stream);
      }
      if ((name === 'channel' || name === 'callback') && words[name] === undefined) {
        words[name] = await readText(name, stream);
        return;
      }
      stream.resume();
    },
    finish(): JobForm {
      if (sizes.audio < 0) throw invalidPart('audio', 'value_error.missing', 'field required');
      const { callback = null } = words;
      const channel =
        words.channel === undefined ? null : channelNumber({ bytes: Buffer.from(words.channel) });
      const source = { audio: digests.audio ?? '', baseline: digests.baseline ?? null };
      return {
        sizes: { audio: sizes.audio, baseline: Math.max(0, sizes.baseline) },
        channel,
        callback,
        digest: digestRequest(digestKey, { source, channel, callback }),
      };
    },
  };
}

async function readText(name: string, stream: PartStream): Promise<string> {
  let length = 0;
  async function* bounded() {
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > mostTextBytes) {
        const msg = `Expected at most ${mostTextBytes} bytes for \`${name}\`, got more`;
        throw invalidPart(name, `value_error.${name === 'channel' ? 'audio.channel' : name}`, msg);
      }
      yield chunk;
    }
  }
  return (await text(bounded())).trim();
}

function broken(): Failure {
  return invalidPart(
    'audio',
    'value_error.multipart',
    'Expected whole multipart/form-data for `body`, got broken',
  );
}
