/** The result in one sentence, and the warnings. */
import { element } from '../dom.ts';
import { seconds, share } from './format.ts';
import { warningSentence } from './messages.ts';
import { type AudioBlock, type EmotionSignals, emotionSignals, type Report, type Warning } from './report.ts';

export function createSummary(report: Report, name: string): HTMLElement {
  const { audio } = report;
  const signals = emotionSignals(report);
  const result = signals === null ? tooLittle(audio) : headline(signals);
  const file = `${name} · ${seconds(audio.duration_s)}, ${seconds(audio.speech_s)} of it speech`;
  return element(
    'div',
    { class: 'headline' },
    element('p', { class: 'muted small' }, file),
    ...result,
    ...warningNotices([...report.emotion.warnings, ...report.cognitive.warnings]),
  );
}

export function headline({ dominant_emotion, confidence, tone }: EmotionSignals): HTMLElement[] {
  const sure = `${share(confidence)} probable. The tone, from valence, arousal and this emotion: ${tone}.`;
  return [
    element('h2', { class: 'headline-word' }, 'Sounds ', element('em', {}, dominant_emotion)),
    element('p', { class: 'headline-note' }, sure),
  ];
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
