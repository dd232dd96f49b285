/** Tone: one word for the point of valence and arousal that does not contradict the dominant emotion. */
import { z } from 'zod';

export type Tone = 'calm' | 'engaged' | 'tense' | 'distressed' | 'subdued' | 'neutral';

const low = z.number().min(0).max(0.5);
const high = z.number().min(0.5).max(1);
/** Bounds around the middle of the plane, so that a word names the quadrant of the point; between two a voice is neutral. */
export const toneParams = z.strictObject({
  lowArousal: low,
  highArousal: high,
  veryLowValence: low,
  lowValence: low,
  highValence: high,
});

/** Words that agree with each label. `neutral` agrees with all. */
const agreeing: Readonly<Record<string, readonly Tone[]>> = {
  neutral: ['calm', 'engaged'],
  calm: ['calm'],
  happy: ['engaged', 'calm'],
  sad: ['subdued'],
  angry: ['tense', 'distressed'],
  fearful: ['tense', 'distressed'],
  disgusted: ['tense', 'distressed', 'subdued'],
  surprised: ['engaged', 'tense'],
};

/** The word of the point, or `neutral` when the dominant emotion contradicts it. */
export function toneOf(
  emotion: string,
  point: { readonly valence: number; readonly arousal: number },
  params: z.infer<typeof toneParams>,
): Tone {
  const word = wordAt(point, params);
  return agreeing[emotion]?.includes(word) ? word : 'neutral';
}

function wordAt(
  { valence, arousal }: { readonly valence: number; readonly arousal: number },
  params: z.infer<typeof toneParams>,
): Tone {
  const isLow = arousal < params.lowArousal;
  if (!isLow && arousal < params.highArousal) return 'neutral';
  if (valence >= params.highValence) return isLow ? 'calm' : 'engaged';
  if (valence >= params.lowValence) return 'neutral';
  if (isLow) return 'subdued';
  return valence < params.veryLowValence ? 'distressed' : 'tense';
}
