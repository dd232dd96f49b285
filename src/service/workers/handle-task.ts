/** One task on an analysis thread: multipart form, stream or step of a stream, analysis, JSON bytes. */
import {
  type Analyses,
  type AnalyzeOptions,
  type AnalyzeRequest,
  type Analyzer,
  composeReport,
  defaultOptions,
  embeddingReport,
  type Platform,
  type Stage,
  stoppedMessage,
  wavHeader,
} from '../../engine/index.ts';
import { signals as allSignals, type Signal } from '../../engine/schema.ts';
import type { Signing } from '../compose-receipt.ts';
import { invalidPart, ServiceError } from '../errors.ts';
import { ignoredField, readForm } from '../form.ts';
import { deserializeState, serializeState } from './live-state.ts';
import {
  buffersOf,
  type CancellableTask,
  type FormTask,
  type JobTask,
  type LiveTask,
  type RecordingTask,
  type Reply,
  toErrorReply,
} from './protocol.ts';

const encoder = new TextEncoder();

type Hooks = {
  /** Opens another analyzer, which handles the task. */
  readonly open?: (() => Promise<Analyzer>) | undefined;
  /** Called between units of work, but for those of a step. */
  readonly yieldToOthers?: () => Promise<boolean>;
  /** Called after each chunk of a job. */
  onChunk?(analysedSeconds: number, declaredSeconds: number | null): void;
};

/** Never rejects: errors are replies. Frees the buffers of the task. */
export async function handleTask(
  usual: Analyzer,
  task: CancellableTask,
  { open = async () => usual, yieldToOthers, onChunk }: Hooks = {},
): Promise<Reply> {
  try {
    const analyzer = await open();
    if (Atomics.load(task.cancel, 0) !== 0) throw new ServiceError('deadline', stoppedMessage);
    if ('live' in task) return await step(analyzer, task);
    const yielding = { ...task, yieldToOthers };
    if ('job' in yielding) return await reportJob(analyzer, yielding, onChunk);
    return 'format' in yielding ? await reportStream(analyzer, yielding) : await report(analyzer, yielding);
  } catch (error) {
    return toErrorReply(error);
  } finally {
    for (const buffer of buffersOf(task)) usual.models.platform.release(buffer);
  }
}

type Cancellable = Pick<CancellableTask, 'cancel'>;
type Yielding = Pick<AnalyzeRequest, 'cancel' | 'yieldToOthers'>;

async function step(analyzer: Analyzer, { live: { spare, ...live }, cancel }: LiveTask & Cancellable) {
  const before = live.state && deserializeState(live.state);
  const { stages, messages, state } = await analyzer.live({ ...live, state: before, cancel });
  return {
    kind: 'report',
    json: encoder.encode(JSON.stringify(messages)),
    state: serializeState(state, spare),
    stages,
    audioSeconds: 0,
  } as const;
}

/** The body of POST /v1/analyze for the samples as a WAV file. */
async function reportStream(
  analyzer: Analyzer,
  {
    body,
    format,
    split,
    speakers,
    signals,
    requestId,
    maxSeconds,
    cancel,
    yieldToOthers,
  }: RecordingTask & Yielding,
) {
  const length = body.reduce((sum, block) => sum + block.length, 0);
  const audio = Buffer.concat([wavHeader(format, length), ...body]);
  const channels = split ? 'split' : null;
  const limits = { seconds: maxSeconds };
  const options = { ...defaultOptions, channels, speakers, signals, limits, cancel, yieldToOthers } as const;
  const request = { ...options, audio, baselines: [] };
  const analyses = await analyzer.analyze(request);
  return replyOf(analyzer, request, { analyses, report: composeReport(request, analyses, requestId) }, null);
}

/** The body of POST /v1/analyze. Decoding has no deadline. */
async function reportJob(
  analyzer: Analyzer,
  { job, requestId, maxSeconds, ignored, signing, ...options }: JobTask & Yielding,
  onChunk?: Hooks['onChunk'],
) {
  const limits = { seconds: maxSeconds, deadlineSeconds: 0 };
  const request = { ...options, limits, signals: allSignals, hashSamples: signing !== null };
  const analyses =
    job === 'long' ? await analyzer.analyze(request, onChunk) : await analyzer.analyzeUnlessLong(request);
  if (analyses === null) return { kind: 'long' } as const;
  const composed = { ...composeReport(request, analyses, requestId), ...(ignored && { ignored }) };
  return replyOf(analyzer, request, { analyses, report: composed }, signing);
}

/** A report as JSON bytes, with a receipt unless `signing` is null. */
async function replyOf(
  analyzer: Analyzer,
  request: AnalyzeRequest,
  result: { readonly analyses: Analyses; readonly report: object },
  signing: Signing | null,
) {
  const { audio, stages } = result.analyses[0];
  const reply = {
    kind: 'report',
    stages: result.analyses.at(-1)?.stages ?? stages,
    audioSeconds: audio.seconds,
  } as const;
  if (signing === null) return { ...reply, json: encoder.encode(JSON.stringify(result.report)) };
  // Only receipts need its modules.
  const { encodeWithReceipt } = await import('../compose-receipt.ts');
  return { ...reply, ...encodeWithReceipt(analyzer, request, result, signing) };
}

/** One array with a buffer of its own; frees the blocks, so that two copies do not last as long as the analysis. */
function joinBlocks(blocks: readonly Uint8Array[], { release }: Platform): Uint8Array {
  if (blocks.length === 1) return blocks[0] as Uint8Array;
  const joined = Buffer.allocUnsafeSlow(blocks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const block of blocks) {
    joined.set(block, at);
    at += block.length;
    release(block);
  }
  return joined;
}

async function report(analyzer: Analyzer, { body, ...task }: FormTask & Yielding) {
  const { platform } = analyzer.models;
  const bytes = joinBlocks(body, platform);
  try {
    return await reportForm(analyzer, bytes, task);
  } finally {
    platform.release(bytes);
  }
}

async function reportForm(
  analyzer: Analyzer,
  bytes: Uint8Array,
  {
    boundary,
    signals,
    embeddings = false,
    requestId,
    ignored: parameters = [],
    receipt,
    cancel,
    yieldToOthers,
  }: Omit<FormTask, 'body'> & Yielding,
) {
  const started = performance.now();
  const { receipt: requested, ignored, ...form } = readForm(bytes, boundary);
  const parsed = performance.now();
  requireAllSignals(form, signals);
  if (embeddings && requested) throw noReceipt();
  const wanted = !embeddings && (requested || receipt.always);
  const request = { ...form, cancel, yieldToOthers, signals, embeddings, hashSamples: wanted };
  const analyses = await analyzer.analyze(request);
  const analyzed = performance.now();
  const composed = {
    ...(embeddings
      ? { ...embeddingReport(analyses[0]), request_id: requestId }
      : composeReport(request, analyses, requestId)),
    ...ignoredField(ignored, parameters),
  };
  const reply = await replyOf(analyzer, request, { analyses, report: composed }, wanted ? receipt : null);
  const stages: Stage[] = [
    { name: 'multipart', ms: parsed - started },
    ...reply.stages,
    { name: 'report', ms: performance.now() - analyzed },
  ];
  return { ...reply, stages };
}

function noReceipt(): ServiceError {
  return invalidPart('receipt', 'receipt', 'Expected false for `receipt` of embeddings, got true');
}

/** Reports of several speakers have every signal. */
function requireAllSignals(
  options: Pick<AnalyzeOptions, 'channels' | 'segments' | 'speakers'>,
  signals: readonly Signal[],
): void {
  const part = (['channels', 'segments', 'speakers'] as const).find((name) => options[name] !== null);
  if (part === undefined || signals.length === allSignals.length) return;
  const message = `Expected POST /v1/analyze or /v1/jobs for \`${part}\`, got another path`;
  throw invalidPart(part, part, message);
}
