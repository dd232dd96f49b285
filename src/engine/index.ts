/** What the engine does: recordings, streams and models -> analyses and reports. The other storeys import this file, `schema.ts` and the errors of `platform.ts` alone. */

export type { PooledEmbeddings } from './aggregate.ts';
export { type Analyses, type AnalyzeRequest, type Analyzer, analyzerOf } from './analyze.ts';
export { dot } from './arrays.ts';
export { type ChannelsReport, composeReport, type SpeakersReport } from './compose-report.ts';
export {
  addProduct,
  type Correction,
  correctLabels,
  correctScore,
  formatCorrection,
  type HeadCorrection,
  type Inputs,
  type LabelCorrection,
  labelInputs,
  minProbability,
  type Probabilities,
  softmax,
} from './correction.ts';
export { type EmbeddingReport, embeddingReport } from './embedding-report.ts';
export { type Stage, stoppedMessage } from './execution.ts';
export { type Golden, goldenDifferences, goldenSchema, goldensOf } from './golden.ts';
export type { LiveState, LiveStep } from './live.ts';
export type { LiveMessage } from './live-messages.ts';
export { loadOnce } from './load-once.ts';
export {
  checkSet,
  type Encoder,
  embeddingName,
  type ModelBytes,
  type Models,
  openEncoder,
  openModels,
  openModelsForCores,
  readModel,
  releaseFiles,
  samplesName,
} from './loader.ts';
export {
  type AnalyzeOptions,
  channelModes,
  defaultOptions,
  longSeconds,
  type SpeakerSegment,
} from './options.ts';
export { type Encoding, frameBytesOf, type SampleFormat, wavHeader } from './pcm.ts';
export {
  type Audio,
  type AudioError,
  type AudioErrorCode,
  type DecodeLimits,
  type DecodeOptions,
  type FeatureSpec,
  type Features,
  type FilteredStream,
  type IncrementalDecoder,
  isAudioError,
  ModelError,
  type Platform,
  type ProsodyTrack,
  type Session,
  type SignalQuality,
  type Source,
  type StreamFilterOptions,
  type Tensor,
  type Values,
} from './platform.ts';
export { type CombinedReport, combinedReport, type WithoutId } from './report.ts';
export { noVoiceMessage, type SpeakerMode, speakerModes, speakerModesText } from './voices.ts';
export { warmUp } from './warm-up.ts';
