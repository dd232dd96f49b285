/** `channels` = `split`: the reports of both channels from one decode, and their conversation. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { z } from 'zod';
import { toneFile, wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { type AnalyzeRequest, analyzerOf } from '../../src/engine/analyze.ts';
import { type Chunking, defaultChunking } from '../../src/engine/chunks.ts';
import { channelsReportSchema, composeReport } from '../../src/engine/compose-report.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { createAnalyzer, loadModels } from '../../src/node/models.ts';
import { decode } from '../../src/tools/index.ts';
import { limits } from '../support/analysis.ts';

const rate = 16_000;
const models = await loadModels('models/standard');

async function reportOf(
  audio: Uint8Array,
  options: Partial<AnalyzeRequest>,
  chunking: Chunking = defaultChunking,
): Promise<object> {
  const signals = ['emotion', 'cognitive'] as const;
  const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null, ...options };
  const analyses = await analyzerOf(models, limits, chunking).analyze(request);
  return composeReport(request, analyses, 'test');
}

/** The schema has no defaults, but its result has another order of keys. */
async function splitOf(
  audio: Uint8Array,
  chunking?: Chunking,
): Promise<z.infer<typeof channelsReportSchema>> {
  const report = await reportOf(audio, { channels: 'split' }, chunking);
  channelsReportSchema.parse(report);
  return report as z.infer<typeof channelsReportSchema>;
}

/** examples/sample.wav from the start of a run of 4.3 s on. */
const spoken = decode(readFileSync('examples/sample.wav')).samples.subarray(10.5 * rate);

/** 16-bit stereo: in each turn the speech from its start. */
function conversation(
  seconds: number,
  ...turns: readonly (readonly [channel: 0 | 1, start: number, seconds: number])[]
) {
  const samples = new Float32Array(2 * rate * seconds);
  for (const [channel, start, length] of turns) {
    for (let index = 0; index < length * rate; index++) {
      samples[2 * (start * rate + index) + channel] = spoken[index] ?? 0;
    }
  }
  return wavFile(samples, rate, 2);
}

test('each report is that of its channel, byte for byte, in every container', async (t) => {
  const audio = conversation(12, [0, 0, 6], [1, 5, 6]);
  for (const recording of [audio, fixture('opus.ogg'), fixture('cbr.mp3'), fixture('aac.m4a')]) {
    const { channels } = await splitOf(recording);
    for (const channel of [0, 1] as const) {
      t.is(JSON.stringify(channels[channel]), JSON.stringify(await reportOf(recording, { channel })));
    }
  }
});

test('channels_differ is a warning about their average, not about one channel', async (t) => {
  const audio = conversation(12, [0, 0, 6], [1, 5, 6]);
  for (const options of [{}, { channel: 0 }, { channels: 'split' }] as const) {
    const warns = JSON.stringify(await reportOf(audio, options)).includes('channels_differ');
    t.is(warns, Object.keys(options).length === 0, JSON.stringify(options));
  }
});

test('chunks of a long recording are those of its channels', async (t) => {
  const chunking = { chunkSeconds: 10, maxCutSeconds: 5 };
  const audio = conversation(70, [0, 1, 7], [1, 9, 6], [0, 16, 7], [1, 30, 7], [0, 44, 7], [1, 49.5, 7]);
  const { channels, conversation: found } = await splitOf(audio, chunking);
  for (const channel of [0, 1] as const) {
    const [own, alone] = [channels[channel], await reportOf(audio, { channel }, chunking)];
    // Of the cognitive signals the pauses differ: test/behaviour/turns.test.ts.
    t.deepEqual({ ...own, cognitive: null } as object, { ...alone, cognitive: null } as object);
  }
  t.true(found.overlap_s > 0.3 && found.overlap_s < 1.2, `${found.overlap_s}`);
});

test('the conversation is the layout of the recording', async (t) => {
  const audio = conversation(30, [0, 2, 3], [1, 7, 3], [0, 12, 3], [1, 14, 6], [0, 22, 3]);
  const report = await splitOf(audio);
  const { talk_share, overlap_s, response_gaps_s, interruptions } = report.conversation;
  const [first = 0, second = 0] = talk_share;
  const speech = report.channels.map((channel) => channel.audio.speech_s) as [number, number];
  const near = (value: number, expected: number) =>
    t.true(Math.abs(value - expected) < 0.35, `${value} for ${expected}`);
  t.true(Math.abs(first - speech[0] / (speech[0] + speech[1])) < 1e-3);
  t.is(first + second, 1);
  near(overlap_s, 1);
  t.deepEqual(interruptions, [0, 1]);
  t.deepEqual(
    response_gaps_s.map(({ length }) => length),
    [2, 1],
  );
  for (const gap of response_gaps_s.flat()) near(gap, 2);
  t.deepEqual(report.audio, {
    duration_s: 30,
    container: 'wav',
    codec: 'pcm_s16le',
    sample_rate_hz: rate,
    channels: 2,
    clipped_ratio: report.channels[0].audio.clipped_ratio,
  });
});

test('a silent channel has too little speech, and the other keeps its scores', async (t) => {
  const report = await splitOf(conversation(6, [1, 1, 4]));
  t.is(report.status, 'insufficient_speech');
  t.deepEqual(
    report.channels.map(({ status }) => status),
    ['insufficient_speech', 'ok'],
  );
  t.deepEqual(report.conversation.talk_share, [0, 1]);
});

test('a recording without exactly two channels is refused', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const request = { ...defaultOptions, baselines: [], signals: ['emotion'], cancel: null } as const;
  const three = wavFile(new Float32Array(3 * rate), rate, 3);
  for (const [audio, got] of [
    [toneFile(1), '1; `speakers` separates voices on one channel'],
    [three, '3'],
  ] as const) {
    const error = await t.throwsAsync(analyzer.analyze({ ...request, audio, channels: 'split' }));
    t.like(error, {
      code: 'channel',
      message: `Expected a recording with 2 channels, got ${got}`,
      at: 'channels',
    });
  }
});
