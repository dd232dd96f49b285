/** A report in words: scores, contributions and warnings. */
import type { Report } from '../index.ts';
import { describeReport } from './text-report.ts';
import { warningsOf } from './wide.ts';

type Warning = NonNullable<Report['emotion']>['warnings'][number];

const meanings: Readonly<Record<Warning, string>> = {
  low_snr: 'noise is less than 10 dB below the speech: intervals are wider',
  clipped: 'samples are cut off at full scale: record at a lower level',
  narrow_band: 'no speech above 4500 Hz, as on a telephone: intervals are wider',
  music_or_noise: 'the detected speech sounds like another sound',
  channels_differ: 'the channels have different content: choose one with `channel`',
  several_speakers: 'the utterances sound like several speakers: the scores are a mean of their voices',
  truncated: 'the file ends early',
  short_speech: 'little speech: under 3 s for emotion, 10 s for cognitive signals',
  insufficient_speech_cognitive:
    'too little speech for cognitive_load and processing: their intervals are wide, and they tell little',
  low_confidence: 'at such a probability the dominant emotion is wrong more often than right',
  unlike_training: 'the voice is unlike those of the training: do not rely on the emotion signals',
  possibly_scripted: 'the speech has few pauses and long runs, as when reading aloud',
  baseline_other_speaker: 'the baseline sounds like another speaker or microphone',
};

const limits = `Intervals hold 80 % of speakers who were left out of training. Scores describe how listeners rate such voices, not what a person feels
or thinks, and are no diagnosis. The pages evidence, indices and measures of \`explain\` define each number.`;

export function explainReport(path: string, report: Report): string {
  const warnings = warningsOf(report) as Warning[];
  return [
    describeReport(path, report),
    ...contributionsOf(report),
    ...warnings.map((warning) => `Warning ${warning}: ${meanings[warning]}.`),
    limits,
  ].join('\n\n');
}

function contributionsOf({ cognitive }: Report): string[] {
  if (cognitive === undefined || cognitive.status !== 'ok') return [];
  return Object.entries(cognitive.contributions).flatMap(([score, contributions]) => {
    if (contributions.length === 0) return [];
    const lines = contributions.map(({ measure, value, effect, source }) => {
      const unit = cognitive.measures[measure]?.unit ?? '';
      return `- ${measure} ${value} ${unit}: ${effect < 0 ? '' : '+'}${effect} (${source})`;
    });
    return [`${score} is ${cognitive.reference} plus these effects:\n${lines.join('\n')}`];
  });
}
