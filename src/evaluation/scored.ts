/** What the evaluation keeps of a report: scores and warnings, nothing of the audio. */
import { z } from 'zod';
import type { Report } from '../index.ts';

const fraction = z.number().min(0).max(1);
const interval = z.tuple([fraction, fraction]);

const emotion = z.strictObject({
  probabilities: z.record(z.string(), fraction),
  valence: fraction,
  arousal: fraction,
  intervals: z.strictObject({ valence: interval, arousal: interval }),
  warnings: z.array(z.string()),
});
const cognitive = z.strictObject({
  clarity: fraction,
  intervals: z.strictObject({ clarity: interval }),
  warnings: z.array(z.string()),
});

/** Null: too little speech. */
export const scoresSchema = z.strictObject({ emotion: emotion.nullable(), cognitive: cognitive.nullable() });

export type Scores = Readonly<z.infer<typeof scoresSchema>>;
export type EmotionScores = NonNullable<Scores['emotion']>;

export function scoresOf({ emotion, cognitive }: Report): Scores {
  return {
    emotion:
      emotion?.status === 'ok'
        ? scoresSchema.shape.emotion.parse({
            probabilities: emotion.signals.emotions,
            valence: emotion.signals.valence,
            arousal: emotion.signals.arousal,
            intervals: emotion.signals.intervals,
            warnings: emotion.warnings,
          })
        : null,
    cognitive:
      cognitive?.status === 'ok'
        ? scoresSchema.shape.cognitive.parse({
            clarity: cognitive.signals.clarity,
            intervals: { clarity: cognitive.signals.intervals.clarity },
            warnings: cognitive.warnings,
          })
        : null,
  };
}
