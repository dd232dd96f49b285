/** Job uploads in the main thread, which passes blocks to the upload thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { entryFile } from '../../node/paths.ts';
import { deserializeError, ServiceError } from '../errors.ts';
import type {
  UploadCommand,
  UploadedForm,
  UploadReply,
  UploadSettings,
  UploadThreadData,
} from './upload-protocol.ts';
import type { UploadStore } from './upload-store.ts';

export type { UploadedForm, UploadSettings } from './upload-protocol.ts';

type UploadOptions = UploadSettings & {
  /** Called when the memory of so many bytes is free again. */
  onReleased(bytes: number): void;
};

type Upload = {
  /** Transfers the next bytes of the body. */
  write(block: Uint8Array): void;
  end(): void;
  /** Deletes its chunks. `result` stays pending. */
  abort(): void;
  /** Rejects with a ServiceError of the form, `too_large`, `queue_unavailable` or `worker_lost`, with no chunk left. */
  readonly result: Promise<UploadedForm>;
};

export type Uploads = {
  /** @param id of the job to be created */
  start(id: string, options: UploadOptions): Upload;
  close(): Promise<void>;
};

export type UploadsOptions = UploadThreadData & {
  /** Keeps the chunks that the thread sends back, and deletes those of uploads that fail. */
  readonly store: Pick<UploadStore, 'append' | 'delete'>;
  /** The thread is replaced. */
  readonly onLost?: ((cause: Error) => void) | undefined;
  /** Entry file of the thread. */
  readonly file?: string;
};

type Thread = { readonly port: MessagePort; readonly piscina: Piscina };

type Entry = {
  readonly thread: Thread;
  readonly onReleased: (bytes: number) => void;
  readonly resolve: (form: UploadedForm) => void;
  readonly reject: (error: unknown) => void;
};

/** Starts the thread with the first upload. */
export function createUploads({
  store,
  onLost,
  file = entryFile('service/jobs/upload-thread'),
  ...data
}: UploadsOptions): Uploads {
  const entries = new Map<string, Entry>();
  let thread: Thread | null = null;

  function open(): Thread {
    const { port1: port, port2 } = new MessageChannel();
    const piscina = new Piscina({
      filename: file,
      name: 'run',
      maxThreads: 1,
      workerData: data,
      recordTiming: false,
    });
    const opened = { port, piscina };
    port.on('message', receive);
    // A single task that lasts as long as the thread.
    const lost = (cause: Error) => lose(opened, cause);
    piscina
      .run(port2, { transferList: [port2] })
      .then(() => lost(new Error('The upload thread ended')), lost);
    return opened;
  }

  function receive(reply: UploadReply): void {
    const entry = entries.get(reply.id);
    if (entry === undefined) return;
    if (reply.kind === 'done' || reply.kind === 'failed') entries.delete(reply.id);
    if (reply.kind === 'released') entry.onReleased(reply.bytes);
    else if (reply.kind === 'chunk') keep(entry, reply);
    else if (reply.kind === 'done') entry.resolve(reply.upload);
    else refuse(reply.id, entry, toError(reply));
  }

  function keep(entry: Entry, { kind: _, ...chunk }: UploadReply & { kind: 'chunk' }): void {
    const { id } = chunk;
    store.append(chunk).catch((error: unknown) => {
      if (!entries.delete(id)) return;
      entry.thread.port.postMessage({ id, kind: 'abort' } satisfies UploadCommand);
      refuse(id, entry, error);
    });
  }

  function refuse(id: string, { reject }: Entry, error: unknown): void {
    discard(id);
    reject(error);
  }

  /** The thread deletes what it has written to Redis. */
  function discard(id: string): void {
    if (data.redisUrl === null) void store.delete(id);
  }

  function lose(lost: Thread, cause: Error): void {
    if (lost !== thread) return;
    thread = null;
    void close(lost);
    onLost?.(cause);
    for (const [id, entry] of entries) {
      if (entry.thread !== lost) continue;
      entries.delete(id);
      const failure = new ServiceError('worker_lost', 'The thread of this upload ended unexpectedly');
      void store
        .delete(id)
        .catch(() => {})
        .then(() => entry.reject(failure));
    }
  }

  return {
    start(id, { boundary, keep, maxBytes, owner, onReleased }) {
      thread ??= open();
      const used = thread;
      const send = (command: UploadCommand, transfer: ArrayBuffer[] = []) =>
        used.port.postMessage(command, transfer);
      const result = new Promise<UploadedForm>((resolve, reject) => {
        entries.set(id, { thread: used, onReleased, resolve, reject });
      });
      result.catch(() => {});
      send({ id, kind: 'start', owner, boundary, keep, maxBytes });
      return {
        write: (bytes) => send({ id, kind: 'block', bytes }, [bytes.buffer as ArrayBuffer]),
        end: () => send({ id, kind: 'end' }),
        abort: () => {
          if (!entries.delete(id)) return;
          send({ id, kind: 'abort' });
          discard(id);
        },
        result,
      };
    },
    async close() {
      const closed = thread;
      thread = null;
      if (closed !== null) await close(closed);
    },
  };
}

async function close({ port, piscina }: Thread): Promise<void> {
  port.close();
  await piscina.destroy();
}

function toError({ failure, cause }: UploadReply & { kind: 'failed' }): unknown {
  return failure === null ? cause : Object.assign(deserializeError(failure), { cause });
}
