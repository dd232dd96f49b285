/** A recording that starts or ends within speech scores like one with silence around it. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import type { CombinedReport } from '../../src/engine/report.ts';
import { reporter, samplesOf } from '../support/analysis.ts';

type EmotionSignals = Readonly<{ valence: number; arousal: number; emotions: Record<string, number> }>;

const rate = 16_000;
const bound = 0.06;
const second = new Float32Array(rate);
const report = await reporter();
const amidSpeech = samplesOf('speech.wav').subarray(0.5 * rate, 2.5 * rate);

function scoresOf({ emotion, cognitive }: CombinedReport): Record<string, number> {
  const feeling = emotion.signals as EmotionSignals;
  const { clarity } = cognitive.signals as { clarity: number };
  return { valence: feeling.valence, arousal: feeling.arousal, clarity, ...feeling.emotions };
}

async function scoresWith(before: Float32Array, after: Float32Array): Promise<Record<string, number>> {
  const samples = Float32Array.from([...before, ...amidSpeech, ...after]);
  return scoresOf(await report(wavFile(samples, rate)));
}

const none = new Float32Array(0);

for (const [name, before, after] of [
  ['before', second, none],
  ['after', none, second],
  ['around', second, second],
] as const) {
  test(`a second of silence ${name} changes no score by more than ${bound}`, async (t) => {
    const [plain, silent] = [await scoresWith(none, none), await scoresWith(before, after)];
    t.is(Object.keys(plain).length, 11);
    for (const [score, value] of Object.entries(plain)) {
      const moved = Math.abs((silent[score] as number) - value);
      t.true(moved <= bound, `${score} moves by ${moved.toFixed(3)}`);
    }
  });
}

test('the timeline stays inside the recording', async (t) => {
  const { emotion } = await report(wavFile(amidSpeech, rate));
  const start = emotion.timeline[0]?.start_s ?? -1;
  t.true(start >= 0 && start <= 0.1, `${start}`);
  t.true((emotion.timeline.at(-1)?.end_s ?? 0) <= 2);
});
