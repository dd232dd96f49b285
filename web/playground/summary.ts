/** The result in one sentence, and the warnings. */
import { element } from '../dom.ts';
import { seconds, share } from './format.ts';
import { warningSentence } from './messages.ts';
import { type AudioBlock, type EmotionSignals, emotionSignals, type Report } from './report.ts';

export function createSummary(report: Report, name: string): HTMLElement {
  const { audio } = report;
  const signals = emotionSignals(report);
  const result = signals === null ? tooLittle(audio) : sentence(signals);
  const file = `${name} · ${seconds(audio.duration_s)}, ${seconds(audio.speech_s)} of it speech`;
  return element(
    'div',
    { class: 'headline' },
    element('p', { class: 'muted small' }, file),
    ...result,
    ...warnings(report).map((text) => element('p', { class: 'notice warn' }, text)),
  );
}

function sentence({ dominant_emotion, confidence, tone }: EmotionSignals): HTMLElement[] {
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

function warnings({ emotion, cognitive }: Report): string[] {
  return [...new Set([...emotion.warnings, ...cognitive.warnings])].map(warningSentence);
}
