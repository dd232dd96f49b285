/** What an adaptation is fitted on: the labels of a recording, its scores by the models as they are, its mean embedding. */
import type { Scored } from '../evaluate/figures.ts';

export type Example = Scored & { readonly embedding: Float32Array };

/** A recording without a speaker counts as one. */
export const speakerOf = ({ recording }: Example) => recording.speaker ?? recording.path;

/** @param speakers of each recording */
export const countsOf = (speakers: readonly string[]) => ({
  recordings: speakers.length,
  speakers: new Set(speakers).size,
});

export const countSpeakers = (examples: readonly Example[]) => countsOf(examples.map(speakerOf)).speakers;

/** Recordings with a value that allow for two numbers per output. */
export const minRecordings = 30;
/** Recordings with a value that allow for weights of the embedding as well. */
export const minForWeights = 200;
export const minSpeakers = 3;
