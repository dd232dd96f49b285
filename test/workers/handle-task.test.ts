/** Which report a task is answered with. */
import test, { type ExecutionContext } from 'ava';
import { boundary, multipart, type PartSpec, toneFile } from '../../benchmarks/upload-body.ts';
import { wavFile } from '../../benchmarks/wav.ts';
import type { Analyses, Analyzer } from '../../src/engine/analyze.ts';
import { channelsReportSchema } from '../../src/engine/compose-report.ts';
import { combinedReportSchema, embeddingReportSchema, reportSchemas } from '../../src/engine/report.ts';
import type { Signal } from '../../src/engine/signals/table.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { handleTask } from '../../src/service/workers/handle-task.ts';
import { limits } from '../support/analysis.ts';

/** Analyses for both signals, whatever the task requests. */
async function open(): Promise<Analyzer> {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const signals = ['emotion', 'cognitive'] as const;
  const analyze = (request: Parameters<Analyzer['analyze']>[0]): Promise<Analyses> =>
    analyzer.analyze({ ...request, signals });
  return { ...analyzer, analyze };
}

async function replyTo(analyzer: Analyzer, signals: readonly string[], parts: readonly PartSpec[] = []) {
  const body = [new Uint8Array(multipart([{ name: 'audio', bytes: toneFile(1) }, ...parts]))];
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  const receipt = { keyId: 'key', purpose: null, always: false };
  const task = { body, boundary, signals: signals as Signal[], requestId: 'id-1', receipt, cancel };
  return handleTask(analyzer, task);
}

function reportOf(t: ExecutionContext, reply: Awaited<ReturnType<typeof replyTo>>): unknown {
  return reply.kind === 'report' ? JSON.parse(Buffer.from(reply.json).toString()) : t.fail(reply.kind);
}

test('each signal is answered with its own report, and no other name with any', async (t) => {
  const analyzer = await open();
  for (const [signals, schema] of [
    [['emotion'], reportSchemas.emotion],
    [['cognitive'], reportSchemas.cognitive],
    [['emotion', 'cognitive'], combinedReportSchema],
  ] as const) {
    const report = reportOf(t, await replyTo(analyzer, signals));
    t.deepEqual(schema.parse(report), report as never, signals.join());
  }
  t.is((await replyTo(analyzer, ['posture'])).kind, 'internalError');
});

test('unknown parts and query parameters are listed in every report, at most ten', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const many = Array.from({ length: 9 }, (_, index) => ({ name: `x-${index}`, bytes: '' }));
  const chanel = { name: 'chanel', bytes: '0' };
  const audio = { name: 'audio', bytes: wavFile(new Float32Array(32_000), 16_000, 2) };
  const split = { name: 'channels', bytes: 'split' };
  const parameter = { name: 'rate', msg: 'Unknown query parameter' };
  const named = { name: 'chanel', msg: 'Unknown part: did you mean `channel`?' };
  for (const [task, parts, schema] of [
    [{ signals: ['emotion'] }, [chanel], reportSchemas.emotion],
    [{ signals: ['emotion', 'cognitive'] }, [chanel], combinedReportSchema],
    [{ signals: ['emotion', 'cognitive'] }, [chanel, split], channelsReportSchema],
    [{ signals: [], embeddings: true }, [chanel], embeddingReportSchema],
  ] as const) {
    const body = [new Uint8Array(multipart([audio, ...parts]))];
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const receipt = { keyId: 'key', purpose: null, always: false };
    const shared = { boundary, requestId: 'id-1', receipt, cancel, ignored: [parameter] };
    const report = reportOf(t, await handleTask(analyzer, { ...task, ...shared, body })) as object;
    t.notThrows(() => schema.parse(report));
    t.like(report, { ignored: [named, parameter] });
  }
  const { ignored } = reportOf(t, await replyTo(analyzer, ['emotion'], [chanel, ...many, ...many])) as {
    ignored: object[];
  };
  t.is(ignored.length, 10);
  t.false('ignored' in (reportOf(t, await replyTo(analyzer, ['emotion'])) as object));
});

test('parts of several speakers are refused on other paths', async (t) => {
  const analyzer = await open();
  for (const [name, bytes] of [
    ['channels', 'split'],
    ['segments', '[{"start":0,"end":1,"speaker":"A"}]'],
    ['speakers', '2'],
  ] as const) {
    const message = `Expected POST /v1/analyze or /v1/jobs for \`${name}\`, got another path`;
    const problem = { where: 'body', field: name, reason: name, message };
    t.like(await replyTo(analyzer, ['emotion'], [{ name, bytes }]), {
      kind: 'failure',
      failure: { code: 'invalid', problems: [problem] },
    });
  }
});
