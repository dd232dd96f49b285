/** The reports, by the names of the OpenAPI document. */
import type { components } from './schema.ts';

type Schemas = components['schemas'];

export type EmotionReport = Schemas['EmotionReport'];
export type CognitiveReport = Schemas['CognitiveReport'];
export type ChannelsReport = Schemas['ChannelsReport'];
export type SpeakersReport = Schemas['SpeakersReport'];
export type Report = Schemas['Report'];
export type StreamToken = Schemas['StreamToken'];
export type StreamTokenRequest = Schemas['StreamTokenRequest'];
export type Failure = Schemas['Failure'];
export type ValidationFailure = Schemas['ValidationFailure'];
