/** One task on an analysis thread: multipart form, stream or step of a stream, analysis, JSON bytes. */
import {
  type AnalyzeOptions,
  type AnalyzeRequest,
  type Analyzer,
  composeReport,
  defaultOptions,
  embeddingReport,
  type Stage,
  stoppedMessage,
  wavHeader,
} from '../../engine/index.ts';
import { signals as allSignals, type Signal } from '../../engine/schema.ts';
import { encodeWithReceipt } from '../compose-receipt.ts';
import { invalidPart, ServiceError } from '../errors.ts';
import { ignoredField, readForm } from '../form.ts';
import {
  type CancellableTask,
  deserializeState,
  type FormTask,
  type LiveTask,
  type RecordingTask,
  type Reply,
  serializeState,
  toErrorReply,
} from './protocol.ts';

const encoder = new TextEncoder();

/** Never rejects: errors are replies. @param yieldToOthers called between units of work, but for those of a step */
export async function handleTask(
  analyzer: Analyzer,
  task: CancellableTask,
  yieldToOthers?: () => Promise<boolean>,
): Promise<Reply> {
  try {
    if (Atomics.load(task.cancel, 0) !== 0) throw new ServiceError('deadline', stoppedMessage);
    if ('live' in task) return await step(analyzer, task);
    const yielding = { ...task, yieldToOthers };
    return 'format' in yielding ? await reportStream(analyzer, yielding) : await report(analyzer, yielding);
  } catch (error) {
    return toErrorReply(error);
  }
}

type Cancellable = Pick<CancellableTask, 'cancel'>;
type Yielding = Pick<AnalyzeRequest, 'cancel' | 'yieldToOthers'>;

async function step(analyzer: Analyzer, { live, cancel }: LiveTask & Cancellable) {
  const before = live.state && deserializeState(live.state);
  const { stages, messages, state } = await analyzer.live({ ...live, state: before, cancel });
  return {
    kind: 'report',
    json: encoder.encode(JSON.stringify(messages)),
    state: serializeState(state),
    stages,
    audioSeconds: 0,
  } as const;
}

/** The body of POST /v1/analyze for the samples as a WAV file. */
async function reportStream(
  analyzer: Analyzer,
  { body, format, split, signals, requestId, maxSeconds, cancel, yieldToOthers }: RecordingTask & Yielding,
) {
  const length = body.reduce((sum, block) => sum + block.length, 0);
  const audio = Buffer.concat([wavHeader(format, length), ...body]);
  const channels = split ? 'split' : null;
  const options = { ...defaultOptions, channels, signals, maxSeconds, cancel, yieldToOthers } as const;
  const request = { ...options, audio, baselines: [] };
  const analyses = await analyzer.analyze(request);
  const json = encoder.encode(JSON.stringify(composeReport(request, analyses, requestId)));
  const { seconds: audioSeconds } = analyses[0].audio;
  return { kind: 'report', json, stages: analyses.at(-1)?.stages ?? [], audioSeconds } as const;
}

async function report(
  analyzer: Analyzer,
  {
    body,
    boundary,
    signals,
    embeddings = false,
    requestId,
    ignored: parameters = [],
    maxSeconds,
    receipt,
    cancel,
    yieldToOthers,
  }: FormTask & Yielding,
) {
  const started = performance.now();
  const bytes = body.length === 1 ? (body[0] as Uint8Array) : Buffer.concat(body);
  const { receipt: requested, ignored, ...form } = readForm(bytes, boundary);
  const parsed = performance.now();
  requireAllSignals(form, signals);
  if (embeddings && requested) throw noReceipt();
  const wanted = !embeddings && (requested || receipt.always);
  const limits = { cancel, yieldToOthers, maxSeconds };
  const request = { ...form, ...limits, signals, embeddings, hashSamples: wanted };
  const analyses = await analyzer.analyze(request);
  const analyzed = performance.now();
  const composed = {
    ...(embeddings
      ? { ...embeddingReport(analyses[0]), request_id: requestId }
      : composeReport(request, analyses, requestId)),
    ...ignoredField(ignored, parameters),
  };
  const encoded = wanted
    ? encodeWithReceipt(analyzer, request, { analyses, report: composed }, receipt)
    : { json: encoder.encode(JSON.stringify(composed)) };
  const stages: Stage[] = [
    { name: 'multipart', ms: parsed - started },
    ...(analyses.at(-1)?.stages ?? []),
    { name: 'report', ms: performance.now() - analyzed },
  ];
  const { seconds: audioSeconds } = analyses[0].audio;
  return { kind: 'report', ...encoded, stages, audioSeconds } as const;
}

function noReceipt(): ServiceError {
  return invalidPart('receipt', 'receipt', 'Expected false for `receipt` of embeddings, got true');
}

/** Reports of several speakers have every signal. */
function requireAllSignals(
  { channels, segments }: Pick<AnalyzeOptions, 'channels' | 'segments'>,
  signals: readonly Signal[],
): void {
  if ((channels === null && segments === null) || signals.length === allSignals.length) return;
  const part = channels === null ? 'segments' : 'channels';
  const message = `Expected POST /v1/analyze or /v1/jobs for \`${part}\`, got another path`;
  throw invalidPart(part, part, message);
}
