/** The reports, by the names of the OpenAPI document. */
import type { components } from './schema.ts';

type Schemas = components['schemas'];

export type Signal = Schemas['Signal'];
/** The report of each signal. */
export type SignalReports = { readonly [S in Signal]: Schemas[`${Capitalize<S>}Report`] };
export type EmotionReport = Schemas['EmotionReport'];
export type CognitiveReport = Schemas['CognitiveReport'];
export type EmbeddingReport = Schemas['EmbeddingReport'];
export type ChannelsReport = Schemas['ChannelsReport'];
export type SpeakersReport = Schemas['SpeakersReport'];
export type Report = Schemas['Report'];
export type Job = Schemas['Job'];
/** The body of a callback. */
export type JobEvent = Schemas['JobEvent'];
export type JobSummary = Schemas['JobSummary'];
export type NewJob = Schemas['JobBegun'];
export type NewJobs = Schemas['JobsBegun'];
export type JobPage = Schemas['JobPage'];
/** The report of a job. */
export type JobResult = NonNullable<Job['result']>;
export type Usage = Schemas['Usage'];
export type StreamToken = Schemas['StreamToken'];
export type StreamTokenRequest = Schemas['StreamTokenRequest'];
export type Failure = Schemas['Failure'];
export type ValidationFailure = Schemas['ValidationFailure'];
