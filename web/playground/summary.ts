/** The result in one sentence and one row of scores, and the warnings. */
import { type Child, element } from '../dom.ts';
import { isUncertain } from './cognitive-view.ts';
import { length, score, seconds, share } from './format.ts';
import { warningSentence } from './messages.ts';
import {
  type AudioBlock,
  cognitiveSignals,
  type EmotionSignals,
  emotionReason,
  emotionSignals,
  type Report,
  type Warning,
} from './report.ts';

export function createSummary(report: Report, name: string): HTMLElement {
  const { audio } = report;
  const signals = emotionSignals(report);
  const reason = emotionReason(report);
  const none = () => (reason === null ? tooLittle(audio) : titled(['No emotion'], reason));
  const result = signals === null ? none() : headline(signals, report.emotion.warnings);
  const file = `${name} · ${length(audio.duration_s)}, ${length(audio.speech_s)} of it speech`;
  return element(
    'div',
    { class: 'headline' },
    element('p', { class: 'muted small' }, file),
    ...result,
    scores(report),
    ...warningNotices([...report.emotion.warnings, ...report.cognitive.warnings]),
  );
}

/** Null with too little speech; without those of a signal that is not available. */
function scores(report: Report): HTMLElement | null {
  const [emotion, cognitive] = [emotionSignals(report), cognitiveSignals(report)];
  if (cognitive === null) return null;
  const uncertain = isUncertain(cognitive);
  const entry = (name: string, value: number, [low, high]: readonly [number, number], unsure = false) =>
    element(
      'div',
      { class: unsure ? 'muted' : '' },
      element('dt', { class: 'small' }, name),
      element('dd', { class: 'number' }, score(value)),
      element('dd', { class: 'muted small number' }, `${score(low)} to ${score(high)}`),
    );
  return element(
    'dl',
    { class: 'scores', 'aria-label': 'Scores with their 80 % intervals' },
    emotion && entry('Valence', emotion.valence, emotion.intervals.valence),
    emotion && entry('Arousal', emotion.arousal, emotion.intervals.arousal),
    entry('Cognitive load', cognitive.cognitive_load, cognitive.intervals.cognitive_load, uncertain),
    entry('Clarity', cognitive.clarity, cognitive.intervals.clarity, uncertain),
    entry('Processing', cognitive.processing, cognitive.intervals.processing, uncertain),
  );
}

/** Names an emotion unless the signal warns of low confidence. */
export function headline(signals: EmotionSignals, warnings: readonly Warning[]): HTMLElement[] {
  const { dominant_emotion, confidence, tone } = signals;
  const toneOf = `Tone of voice: ${tone}.`;
  if (warnings.includes('low_confidence')) {
    return titled(['No clear emotion'], `Likeliest: ${likeliest(signals)}. ${toneOf}`);
  }
  return titled(['Sounds ', element('em', {}, dominant_emotion)], `${share(confidence)} probable. ${toneOf}`);
}

function titled(title: readonly Child[], note: string): HTMLElement[] {
  return [
    element('h2', { class: 'headline-word' }, ...title),
    element('p', { class: 'headline-note' }, note),
  ];
}

/** The two most probable emotions. */
function likeliest({ emotions }: EmotionSignals): string {
  const sorted = Object.entries(emotions).sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, 2).map(([name, probability]) => `${name} ${share(probability)}`);
  return named.join(', ');
}

function tooLittle({ speech_s }: AudioBlock): HTMLElement[] {
  return [
    element('h2', { class: 'headline-word' }, 'Too little speech'),
    element(
      'p',
      { class: 'notice warn' },
      `Only ${seconds(speech_s)} of speech was detected; scores require 0.5 s. ` +
        'Record again: speak for five seconds or more, near the microphone.',
    ),
  ];
}

export function warningNotices(warnings: readonly Warning[]): HTMLElement[] {
  return [...new Set(warnings)].map((name) => element('p', { class: 'notice warn' }, warningSentence(name)));
}
