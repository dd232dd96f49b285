import { type Recording } from './recording.ts';
import type { CognitiveReport, EmotionReport, Report } from './reports.ts';
export type ClientOptions = {
    /** Where the service is, such as `http://127.0.0.1:8080`. */
    readonly url: string | URL;
    readonly token: string;
    /** Longest that one attempt may take; 60 s when left out. */
    readonly timeoutMs?: number;
    /** Retries after 500, 502, 503, 504 or a lost connection; 3 by default. */
    readonly retries?: number;
};
export type AnalyzeOptions = {
    /** The same speaker at rest: makes the cognitive signals relative. */
    readonly baseline?: Recording;
    /** Counted from 0: this channel instead of the average of all. */
    readonly channel?: number;
    /** Entries of the timeline: utterances, or the windows that the scores are means of; utterances when left out. */
    readonly timeline?: 'utterances' | 'windows';
    /** Ends the call, retries included. */
    readonly signal?: AbortSignal;
    /** In place of the client's. */
    readonly timeoutMs?: number;
};
/** Calls throw ValidationError, ApiError or NoAnswerError. */
export type Client = {
    /** Both reports from one pass. */
    analyze(audio: Recording, options?: AnalyzeOptions): Promise<Report>;
    emotion(audio: Recording, options?: AnalyzeOptions): Promise<EmotionReport>;
    cognitive(audio: Recording, options?: AnalyzeOptions): Promise<CognitiveReport>;
};
export declare function createClient(options: ClientOptions): Client;
