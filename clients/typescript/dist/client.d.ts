import { type Jobs } from './jobs.ts';
import type { Recording } from './recording.ts';
import type { ChannelsReport, CognitiveReport, EmbeddingReport, EmotionReport, Report, SpeakersReport, StreamToken, StreamTokenRequest, Usage } from './reports.ts';
import { type ReportOf, type StreamConfig, type StreamSession, type WebSocketConstructor } from './stream.ts';
export type ClientOptions = {
    /** Where the service is, such as `http://127.0.0.1:8080`. */
    readonly url: string | URL;
    /** Not needed by a page that only opens sessions with tokens of its server. */
    readonly token?: string | undefined;
    /** Longest that one attempt may take; 60 s when left out. */
    readonly timeoutMs?: number;
    /** Retries after 500, 502, 503, 504 or a lost connection; 3 by default. */
    readonly retries?: number;
    /** The global one when left out: that of a browser, or of Node 22 and later. */
    readonly WebSocket?: WebSocketConstructor;
};
export type CallOptions = {
    /** Ends the call, retries included. */
    readonly signal?: AbortSignal;
    /** In place of the client's. */
    readonly timeoutMs?: number;
};
export type AnalyzeOptions = CallOptions & {
    /** The same speaker at rest, up to five recordings: makes the cognitive signals relative. */
    readonly baseline?: Recording | readonly Recording[];
    /** Counted from 0: this channel instead of the average of all. */
    readonly channel?: number;
    /** Adds a signed `receipt` to the report. */
    readonly receipt?: boolean;
};
export type StreamOptions = {
    /** A token of `createStreamToken`; without it, the client requests one with its own token. */
    readonly token?: string;
    /** Ends the session without its report. */
    readonly signal?: AbortSignal;
    /** Longest until the session is open, in place of the client's. */
    readonly timeoutMs?: number;
};
export type EmbedOptions = Omit<AnalyzeOptions, 'baseline' | 'receipt'>;
export type ChannelsOptions = Omit<AnalyzeOptions, 'baseline' | 'channel'>;
/** Times in seconds. */
export type SpeakerSegment = {
    readonly start: number;
    readonly end: number;
    readonly speaker: string;
};
export type SpeakersOptions = Omit<AnalyzeOptions, 'baseline'> & {
    /** Who speaks when; a text is RTTM. */
    readonly segments: readonly SpeakerSegment[] | string;
};
export type FormOptions = AnalyzeOptions & Partial<SpeakersOptions> & {
    readonly channels?: 'split';
};
/** Calls throw ApiError and its subclasses, NoAnswerError, JobFailedError or SessionEndedError. */
export type Client = {
    /** Both reports from one pass. */
    analyze(audio: Recording, options?: AnalyzeOptions): Promise<Report>;
    /** One report per channel of a recording with two, and their conversation. */
    analyzeChannels(audio: Recording, options?: ChannelsOptions): Promise<ChannelsReport>;
    /** One report per speaker of a diarizer or a transcript. */
    analyzeSpeakers(audio: Recording, options: SpeakersOptions): Promise<SpeakersReport>;
    emotion(audio: Recording, options?: AnalyzeOptions): Promise<EmotionReport>;
    cognitive(audio: Recording, options?: AnalyzeOptions): Promise<CognitiveReport>;
    /** Embeddings of the recording and of its utterances; needs the scope `embed`. */
    embed(audio: Recording, options?: EmbedOptions): Promise<EmbeddingReport>;
    /** Long recordings and lists, analysed in the background. */
    readonly jobs: Jobs;
    /** Requests, errors and seconds of audio of the client's token, per day. */
    usage(options?: CallOptions): Promise<Usage>;
    /** Opens a live session. */
    stream<const Config extends StreamConfig>(config: Config, options?: StreamOptions): Promise<StreamSession<ReportOf<Config>>>;
    /** A token for one live session of a page, which opens it within 60 s. */
    createStreamToken(request?: StreamTokenRequest, options?: CallOptions): Promise<StreamToken>;
};
export declare function createClient(options: ClientOptions): Client;
