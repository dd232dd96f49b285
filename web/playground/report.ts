/** Types of the response of POST /v1/analyze, from the schemas of the service. */
import type { ChannelsReport, SpeakersReport } from '../../src/engine/compose-report.ts';
import type { CombinedReport } from '../../src/engine/report.ts';

export type Report = CombinedReport;
/** Of each of two channels, or of each voice on one. */
export type SeveralReport = ChannelsReport | SpeakersReport;

export function isOfSeveral(report: Report | SeveralReport): report is SeveralReport {
  return 'channels' in report || 'speakers' in report;
}

export type Emotion = Report['emotion'];
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

type Scored = Pick<EmotionSignals, 'valence' | 'arousal'>;

/** Models that were adapted without ratings have no valence, or no arousal. */
export function hasAffect<One extends Scored>(one: One): one is One & Affect {
  return one.valence !== null && one.arousal !== null;
}
