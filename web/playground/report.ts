/** Types of the response of POST /v1/analyze, from the schemas of the service, and the rules of the models behind it. */
import type { ChannelsReport, SpeakersReport } from '../../src/engine/compose-report.ts';
import type { CombinedReport } from '../../src/engine/report.ts';
import type { ParamsOf } from '../../src/engine/signals/table.ts';

export type Report = CombinedReport;
/** Of each of two channels, or of each voice on one. */
export type SeveralReport = ChannelsReport | SpeakersReport;

export function isOfSeveral(report: Report | SeveralReport): report is SeveralReport {
  return 'channels' in report || 'speakers' in report;
}

export type Voice = { readonly name: string; readonly report: Report };

export function voicesOf(report: SeveralReport): readonly Voice[] {
  return 'channels' in report
    ? report.channels.map((channel, index) => ({ name: `Channel ${index}`, report: channel }))
    : report.speakers.map((speaker) => ({ name: `Speaker ${speaker.speaker}`, report: speaker }));
}

export type Emotion = Report['emotion'];
/** Whether an utterance is one of the moments. */
export function isMomentOf(moments: Emotion['moments']): (utterance: Span) => boolean {
  return ({ start_s }) => moments?.some((moment) => moment.start_s === start_s) ?? false;
}

export type Cognitive = Report['cognitive'];
export type AudioBlock = Report['audio'];
export type Warning = (Emotion | Cognitive)['warnings'][number];
export type Contribution = Cognitive['contributions']['cognitive_load'][number];

export type EmotionSignals = Extract<Emotion['signals'], { dominant_emotion: string }>;

export type Affect = { readonly valence: number; readonly arousal: number };
export type CognitiveSignals = Extract<Cognitive['signals'], { clarity: number }>;

/** Null when there was too little speech, or the models have no emotion. */
export function emotionSignals({ emotion }: Report): EmotionSignals | null {
  return emotion.status === 'ok' ? emotion.signals : null;
}

/** Why there is no emotion in any recording; null where the models have it. */
export function emotionReason({ emotion }: Report): string | null {
  return emotion.status === 'not_available' ? emotion.reason : null;
}

/** Null when there was too little speech. */
export function cognitiveSignals({ cognitive }: Report): CognitiveSignals | null {
  return cognitive.status === 'ok' ? cognitive.signals : null;
}

export function warningsOf({ emotion, cognitive }: Report): readonly Warning[] {
  return [...emotion.warnings, ...cognitive.warnings];
}

type Scored = Pick<EmotionSignals, 'valence' | 'arousal'>;

/** Models that were adapted without ratings have no valence, or no arousal. */
export function hasAffect<One extends Scored>(one: One): one is One & Affect {
  return one.valence !== null && one.arousal !== null;
}

/** Emotions with their probabilities, most probable first. */
export function ranked(emotions: EmotionSignals['emotions']): [name: string, probability: number][] {
  return Object.entries(emotions).sort(([, a], [, b]) => b - a);
}

/** In a recording, s. */
export type Span = { readonly start_s: number; readonly end_s: number };

// Bounds and reference distributions of the loaded models, from GET /v1/models.

type EmotionParams = ParamsOf<'emotion'>;
type CognitiveParams = ParamsOf<'cognitive'>;

export type ToneBounds = EmotionParams['tone'];
export type Reference = CognitiveParams['reference'][string];

export type Rules = {
  readonly tone: ToneBounds | null;
  readonly reference: CognitiveParams['reference'];
  /** Whether they separate voices. */
  readonly separatesVoices: boolean;
};

type Card =
  | { readonly kind: 'emotion'; readonly rule: EmotionParams }
  | { readonly kind: 'cognitive'; readonly rule: CognitiveParams }
  | { readonly kind: 'voice' };

const unknown: Rules = { tone: null, reference: {}, separatesVoices: false };
let loading: Promise<Rules> | null = null;

/** Requests them once; without an answer, the page shows no bounds and no percentiles, and separates no voices. */
export function loadRules(): Promise<Rules> {
  loading ??= requestRules().catch(() => {
    loading = null;
    return unknown;
  });
  return loading;
}

async function requestRules(): Promise<Rules> {
  const response = await fetch('/v1/models');
  if (!response.ok) throw new Error(`Expected 200 from /v1/models, got ${response.status}`);
  const { models } = (await response.json()) as { readonly models: readonly Card[] };
  const rules = { ...unknown };
  for (const card of models) {
    if (card.kind === 'emotion') rules.tone = card.rule.tone;
    if (card.kind === 'cognitive') rules.reference = card.rule.reference;
    if (card.kind === 'voice') rules.separatesVoices = true;
  }
  return rules;
}
