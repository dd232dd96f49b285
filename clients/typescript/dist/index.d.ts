export { type AnalyzeOptions, type Client, type ClientOptions, createClient } from './client.ts';
export { ApiError, NoAnswerError, UndertoneError, ValidationError, type ValidationItem } from './errors.ts';
export type { Recording } from './recording.ts';
export type { CognitiveReport, EmotionReport, Report } from './reports.ts';
