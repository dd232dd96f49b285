/** Speech at the end of a stream -> starts and ends of speech, and utterances, each decided once. */
import type { Segment } from './segments.ts';
import type { SpeechAnalysis } from './speech.ts';
import { cutUtterances, maxSeconds } from './utterances.ts';

/** What a stream has decided so far. Positions are frames of the stream. */
export type LiveState = {
  /** Everything before this frame is decided. */
  readonly decided: number;
  /** Whether speech has started and not ended. */
  readonly speaking: boolean;
};

export const initialState: LiveState = { decided: 0, speaking: false };

/** Why an utterance is over: a pause after it, its length, or a message of the client. */
export type TurnCause = 'pause' | 'length' | 'turn.end' | 'session.end';

export type LiveEvent =
  | { readonly type: 'started' | 'ended'; readonly frame: number }
  | { readonly type: 'turn'; readonly span: Segment; readonly cause: TurnCause };

type Detected = Pick<SpeechAnalysis, 'segments' | 'speechProbability' | 'framesPerSecond'>;

export type LiveParams = { readonly minSpeechSeconds: number; readonly minPauseSeconds: number };

/**
 * Decides what the samples allow: speech has ended once a pause of `minPauseSeconds` follows.
 * @param detected speech of the last seconds of the stream, in frames from `firstFrame` of the stream
 * @param cause not null: the application ends the utterance at the end of the samples
 */
export function decideTurns(
  state: LiveState,
  { segments, speechProbability, framesPerSecond }: Detected,
  firstFrame: number,
  { minSpeechSeconds, minPauseSeconds }: LiveParams,
  cause: 'turn.end' | 'session.end' | null,
): { readonly state: LiveState; readonly events: readonly LiveEvent[] } {
  const events: LiveEvent[] = [];
  const now = speechProbability.length;
  const minPause = minPauseSeconds * framesPerSecond;
  let { speaking } = state;
  let decided = Math.max(0, state.decided - firstFrame);

  const cut = (span: Segment) => cutUtterances({ segments: [span], speechProbability, framesPerSecond });
  const addTurns = (spans: readonly Segment[], why: TurnCause) =>
    events.push(...spans.map((span) => ({ type: 'turn', span, cause: why }) as const));
  const start = (frame: number) => {
    events.push({ type: 'started', frame: frame + firstFrame });
    [speaking, decided] = [true, frame];
  };
  /** The pause is decided too: a later result that shortens it is no new speech. */
  const end = (frame: number) => {
    events.push({ type: 'ended', frame: frame + firstFrame });
    [speaking, decided] = [false, frame + minPause];
  };

  for (const [index, segment] of segments.entries()) {
    const span = { start: Math.max(decided, segment.start), end: segment.end };
    const frames = span.end - span.start;
    if (frames < (speaking ? 1 : minSpeechSeconds * framesPerSecond)) continue;
    if (speaking && segment.start - decided >= minPause) end(decided);
    if (!speaking) start(span.start);
    const hasPause = index < segments.length - 1 || now - segment.end >= minPause;
    if (hasPause || cause !== null) {
      end(segment.end);
      addTurns(cut(span), hasPause ? 'pause' : (cause ?? 'pause'));
    } else if (frames > maxSeconds * framesPerSecond) {
      const [first] = cut(span) as [Segment];
      addTurns([first], 'length');
      decided = first.end;
    }
  }
  const lastEnd = Math.max(decided, segments.at(-1)?.end ?? 0);
  if (speaking && (cause !== null || now - lastEnd >= minPause)) end(decided);
  if (cause !== null) decided = now;
  return { state: { decided: decided + firstFrame, speaking }, events };
}
