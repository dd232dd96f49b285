/** A word for valence and arousal, for clients that expect one. */

export type Tone = 'calm' | 'engaged' | 'tense' | 'distressed' | 'subdued' | 'neutral';

/**
 * Arousal up to 0.4 is `subdued` (valence under 0.45) or `calm`. Above that, valence under 0.3 is
 * `distressed`, under 0.45 `tense`, from 0.55 on `engaged`; between them the voice is `engaged` from an
 * arousal of 0.6 on, else `neutral`.
 */
export function toneOf(valence: number, arousal: number): Tone {
  if (arousal <= 0.4) return valence < 0.45 ? 'subdued' : 'calm';
  if (valence < 0.3) return 'distressed';
  if (valence < 0.45) return 'tense';
  return valence >= 0.55 || arousal >= 0.6 ? 'engaged' : 'neutral';
}
