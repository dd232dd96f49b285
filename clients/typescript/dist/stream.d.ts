import type { ChannelsReport, CognitiveReport, EmotionReport, Report } from './reports.ts';
import type { components } from './schema.ts';
type Schemas = components['schemas'];
/** Format of the samples and requested signals. */
export type StreamConfig = Omit<Schemas['SessionConfigureMessage'], 'type'>;
/** The report of a session that requests one signal is the report of that signal; with `split`, one per channel. */
export type ReportOf<Config extends StreamConfig> = Config extends {
    readonly split: true;
} ? ChannelsReport : Config extends {
    readonly signals: infer Signals;
} ? Signals extends readonly ['emotion'] ? EmotionReport : Signals extends readonly ['cognitive'] ? CognitiveReport : Report | EmotionReport | CognitiveReport : Report;
/** A message of the service; an error is thrown instead. */
export type StreamMessage<R = Report> = Schemas['SessionReadyMessage'] | Schemas['SpeechStartedMessage'] | Schemas['SpeechEndedMessage'] | Schemas['MeasurementMessage'] | Schemas['TurnMessage'] | (Omit<Schemas['FinalMessage'], 'report'> & {
    readonly report: R;
}) | Schemas['SessionEndedMessage'];
/** Iteration yields the messages until the session is over. It throws when there is no report. */
export type StreamSession<R = Report> = AsyncIterable<StreamMessage<R>> & {
    /** Sends samples, which may be cut anywhere. Resolves when the connection accepts more. */
    send(samples: ArrayBuffer | ArrayBufferView): Promise<void>;
    /** The service returns the utterance that is still open, as provisional. */
    turnEnd(): void;
    /** Ends the audio. Resolves with the report. */
    end(): Promise<R>;
};
/** The members of a WebSocket that a session uses: of the global one, or of the package ws. */
export type Socket = {
    readonly bufferedAmount: number;
    send(data: string | Uint8Array<ArrayBuffer>): void;
    close(): void;
    addEventListener(type: 'open', listener: () => void): void;
    addEventListener(type: 'error', listener: (event: object) => void): void;
    addEventListener(type: 'message', listener: (event: {
        readonly data: unknown;
    }) => void): void;
    addEventListener(type: 'close', listener: (event: {
        readonly code: number;
        readonly reason: string;
    }) => void): void;
};
export type WebSocketConstructor = new (url: URL, protocols: string[]) => Socket;
export type Connection = {
    /** Of the service; ends in `/`. */
    readonly url: URL;
    /** Of POST /v1/stream/tokens. */
    readonly token: string;
    readonly WebSocket: WebSocketConstructor;
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
};
/** Resolves when the session is configured. */
export declare function openSession<R>(config: StreamConfig, connection: Connection): Promise<StreamSession<R>>;
export {};
