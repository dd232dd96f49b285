/** What a signal defines. Pipeline, manifests, reports, routes, scopes and OpenAPI follow from it. */
import type { z } from 'zod';
import type { Session } from '../../models/session.ts';
import type { EncodedWindow } from '../encode.ts';
import type { SpeechAnalysis } from '../speech.ts';
import type { StageTimer } from '../stage-timer.ts';
import type { RecordingContext } from '../types.ts';

/** A signal's model: its head, and the params and labels of its manifest. */
export type Head<Params> = {
  readonly session: Session;
  readonly manifest: { readonly params: Params; readonly labels: readonly string[] | null };
};

export type SignalInput = {
  readonly encoded: readonly EncodedWindow[];
  readonly speech: SpeechAnalysis;
  readonly timer: StageTimer;
};

/** The fields of a report that are the signal's own. */
export type SignalReport = {
  readonly signals: object;
  readonly warnings: readonly string[];
};

/**
 * @typeParam Params of the manifest
 * @typeParam Chunk result of one chunk of a recording; chunks come in order
 * @typeParam Result of the whole recording, exact
 * @typeParam Body schema of the report but for `audio` and `request_id`
 */
export type SignalDefinition<
  Params = unknown,
  Chunk = unknown,
  Result = unknown,
  Body extends z.ZodObject = z.ZodObject,
> = {
  /** Noun phrase for documents: "emotion". */
  readonly title: string;
  /** Outputs of the model's graph. */
  readonly outputs: readonly string[];
  readonly labels: z.ZodType<readonly string[] | null>;
  readonly params: z.ZodType<Params>;
  /** Whether the part `baseline` of an upload is used. */
  readonly usesBaseline: boolean;
  readonly body: Body;
  infer(input: SignalInput, head: Head<Params>): Promise<Chunk>;
  aggregate(chunks: readonly Chunk[], recording: RecordingContext, head: Head<Params>): Result;
  /** @param result null when there was too little speech */
  report(result: Result | null): SignalReport;
};
