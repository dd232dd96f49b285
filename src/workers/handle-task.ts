/** One task on an analysis thread: multipart form or end of a stream, analysis, JSON bytes. */

import type { Analyzer } from '../analysis/analyze.ts';
import type { LiveOutput } from '../analysis/live.ts';
import { combinedReport, signalReport } from '../analysis/report.ts';
import type { Signal } from '../analysis/signals/table.ts';
import { type Stage, stoppedMessage } from '../analysis/stage-timer.ts';
import type { Analysis } from '../analysis/types.ts';
import { readForm } from '../multipart/form.ts';
import { ServiceError } from '../runtime/errors.ts';
import { type FormTask, type LiveTask, type Reply, type TaskMessage, toErrorReply } from './protocol.ts';

const encoder = new TextEncoder();

/** Never rejects: errors are replies. */
export async function handleTask(analyzer: Analyzer, task: TaskMessage): Promise<Reply> {
  try {
    if (Atomics.load(task.cancel, 0) !== 0) throw new ServiceError('deadline', stoppedMessage);
    return 'live' in task ? await step(analyzer, task) : await report(analyzer, task);
  } catch (error) {
    return toErrorReply(error);
  }
}

type Cancellable = Pick<TaskMessage, 'cancel'>;

async function step(analyzer: Analyzer, { body, live, cancel }: LiveTask & Cancellable) {
  const { stages, ...output } = await analyzer.live({ ...live, audio: body[0] as Uint8Array, cancel });
  const json = encoder.encode(JSON.stringify(output satisfies LiveOutput));
  return { kind: 'report', json, stages } as const;
}

async function report(
  analyzer: Analyzer,
  { body, boundary, signals, requestId, maxSeconds, cancel }: FormTask & Cancellable,
) {
  const started = performance.now();
  const bytes = body.length === 1 ? (body[0] as Uint8Array) : Buffer.concat(body);
  const form = readForm(bytes, boundary);
  const parsed = performance.now();
  const analysis = await analyzer.analyze({ ...form, signals, cancel, maxSeconds });
  const analyzed = performance.now();
  const json = encoder.encode(JSON.stringify(reportOf(analysis, signals, requestId)));
  const stages: Stage[] = [
    { name: 'multipart', ms: parsed - started },
    ...analysis.stages,
    { name: 'report', ms: performance.now() - analyzed },
  ];
  return { kind: 'report', json, stages } as const;
}

function reportOf(analysis: Analysis, signals: readonly Signal[], requestId: string): object {
  const [signal, ...others] = signals;
  if (signal === undefined || others.length > 0) return combinedReport(analysis, requestId);
  return signalReport(signal, analysis, requestId);
}
