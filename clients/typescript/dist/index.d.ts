export { type AnalyzeOptions, type CallOptions, type ChannelsOptions, type Client, type ClientOptions, createClient, type SpeakerSegment, type SpeakersOptions, type StreamOptions, } from './client.ts';
export { ApiError, NoAnswerError, SessionEndedError, UndertoneError, ValidationError, type ValidationItem, } from './errors.ts';
export type { Recording } from './recording.ts';
export type { ChannelsReport, CognitiveReport, EmotionReport, Report, SpeakersReport, StreamToken, } from './reports.ts';
export type { StreamConfig, StreamMessage, StreamSession, WebSocketConstructor } from './stream.ts';
