export {
  type AnalyzeOptions,
  type CallOptions,
  type ChannelsOptions,
  type Client,
  type ClientOptions,
  createClient,
  type EmbedOptions,
  type SpeakerSegment,
  type SpeakersOptions,
  type StreamOptions,
} from './client.ts';
export {
  ApiError,
  ForbiddenError,
  JobFailedError,
  NoAnswerError,
  NotFoundError,
  RateLimitedError,
  SessionEndedError,
  UnauthenticatedError,
  UnavailableError,
  UndertoneError,
  ValidationError,
  type ValidationItem,
  WebhookError,
} from './errors.ts';
export type { GetOptions, JobOptions, Jobs, UrlOptions, WaitOptions } from './jobs.ts';
export type { Recording } from './recording.ts';
export type {
  ChannelsReport,
  CognitiveReport,
  EmbeddingReport,
  EmotionReport,
  Job,
  JobEvent,
  JobResult,
  JobSummary,
  NewJob,
  NewJobs,
  Report,
  Signal,
  SignalReports,
  SpeakersReport,
  StreamToken,
  Usage,
} from './reports.ts';
export type {
  Reconnected,
  StreamConfig,
  StreamMessage,
  StreamSession,
  WebSocketConstructor,
} from './stream.ts';
