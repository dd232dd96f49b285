/** Types of the response of POST /v1/analyze, from the schemas of the service. */
import type { CombinedReport } from '../../src/analysis/report.ts';

export type Report = CombinedReport;
export type Emotion = Report['emotion'];
export type Cognitive = Report['cognitive'];
export type AudioBlock = Report['audio'];
export type Warning = (Emotion | Cognitive)['warnings'][number];
export type Contribution = Cognitive['contributions']['cognitive_load'][number];

export type EmotionSignals = Extract<Emotion['signals'], { valence: number }>;
export type CognitiveSignals = Extract<Cognitive['signals'], { clarity: number }>;

/** Null when there was too little speech, or the models have no emotion. */
export function emotionSignals({ emotion: { signals } }: Report): EmotionSignals | null {
  return 'valence' in signals ? (signals as EmotionSignals) : null;
}

/** Null when there was too little speech. */
export function cognitiveSignals({ cognitive: { signals } }: Report): CognitiveSignals | null {
  return 'clarity' in signals ? (signals as CognitiveSignals) : null;
}
