/** The quality of a recording from that of its pieces. */

type Quality = {
  readonly levelDbfs: number;
  readonly snrDb: number | null;
  readonly bandwidthHz: number;
};

const mostSnrDb = 60;
const silentDbfs = -100;

/**
 * Powers of speech and noise are averaged over the pieces, bandwidths too, each weighted by its seconds of speech.
 * A piece whose `snrDb` is null tells nothing of the noise.
 */
export function joinQualities(
  pieces: readonly { readonly quality: Quality; readonly speechSeconds: number }[],
): Quality {
  const spoken = pieces.filter(({ speechSeconds }) => speechSeconds > 0);
  const heard = spoken.filter(({ quality }) => quality.snrDb !== null);
  const level = meanBySpeech(spoken, ({ quality }) => powerOf(quality.levelDbfs));
  const both = meanBySpeech(heard, ({ quality }) => powerOf(quality.levelDbfs));
  const noise = meanBySpeech(
    heard,
    ({ quality }) => powerOf(quality.levelDbfs) / (1 + powerOf(quality.snrDb ?? 0)),
  );
  return {
    levelDbfs: decibels(level),
    snrDb: heard.length === 0 ? null : Math.min(mostSnrDb, Math.max(0, decibels((both - noise) / noise))),
    bandwidthHz: meanBySpeech(spoken, ({ quality }) => quality.bandwidthHz),
  };
}

/** Weighted by seconds of speech; 0 without any. */
export function meanBySpeech<Piece extends { readonly speechSeconds: number }>(
  pieces: readonly Piece[],
  value: (piece: Piece) => number,
): number {
  const total = pieces.reduce((sum, { speechSeconds }) => sum + speechSeconds, 0);
  const sum = pieces.reduce((all, piece) => all + piece.speechSeconds * value(piece), 0);
  return total > 0 ? sum / total : 0;
}

export function powerOf(decibel: number): number {
  return 10 ** (decibel / 10);
}

export function decibels(power: number): number {
  return power > 0 ? Math.max(silentDbfs, 10 * Math.log10(power)) : silentDbfs;
}
