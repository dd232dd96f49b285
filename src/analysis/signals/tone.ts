/** One word for valence and arousal, for clients that expect one. */
import { z } from 'zod';

export type Tone = 'calm' | 'engaged' | 'tense' | 'distressed' | 'subdued' | 'neutral';

const fraction = z.number().min(0).max(1);
export const toneParams = z.strictObject({
  lowArousal: fraction,
  highArousal: fraction,
  veryLowValence: fraction,
  lowValence: fraction,
  highValence: fraction,
});

/** Up to `lowArousal` a voice is subdued or calm. Above it, valence decides; `highArousal` makes a neutral voice engaged. */
export function toneOf(valence: number, arousal: number, params: z.infer<typeof toneParams>): Tone {
  if (arousal <= params.lowArousal) return valence < params.lowValence ? 'subdued' : 'calm';
  if (valence < params.veryLowValence) return 'distressed';
  if (valence < params.lowValence) return 'tense';
  return valence >= params.highValence || arousal >= params.highArousal ? 'engaged' : 'neutral';
}
