/** Valence, arousal and emotions: of the recording and over time. */

import { element } from '../dom.ts';
import { createAffectPlane } from './affect-plane.ts';
import { card } from './card.ts';
import { createEmotionBars } from './emotion-bars.ts';
import { createGauge } from './gauge.ts';
import type { EmotionSignals, Report } from './report.ts';
import type { Rules } from './rules.ts';
import { createUtteranceTable } from './timeline.ts';

export function emotionCards(
  report: Report,
  signals: EmotionSignals,
  chart: HTMLElement,
  { tone }: Rules,
): HTMLElement[] {
  return [
    affectCard(affectPlane(report, signals, tone), ...affectGauges(signals)),
    element(
      'div',
      { class: 'stack' },
      card(
        'Over time',
        'Each utterance on its own: speech between pauses, at most ten seconds.',
        chart,
        createUtteranceTable(report),
      ),
      emotionsCard(createEmotionBars(signals)),
    ),
  ];
}

/** Of the whole recording and its utterances. */
export function affectPlane(
  { emotion }: Report,
  signals: EmotionSignals,
  bounds: Rules['tone'],
): HTMLElement {
  const plane = createAffectPlane(bounds);
  plane.show('the whole recording', signals, emotion.timeline);
  return plane.root;
}

export function affectCard(...content: readonly HTMLElement[]): HTMLElement {
  return card(
    'Valence and arousal',
    'How positive and how excited the voice sounds to listeners.',
    ...content,
  );
}

export function emotionsCard(content: HTMLElement): HTMLElement {
  return card('Emotions', 'How probable each is, learned mostly from actors.', content);
}

export function affectGauges({ valence, arousal, intervals }: EmotionSignals): HTMLElement[] {
  return [
    createGauge({
      name: 'Valence',
      value: valence,
      ends: ['negative', 'positive'],
      interval: intervals.valence,
      tone: 'valence',
    }),
    createGauge({
      name: 'Arousal',
      value: arousal,
      ends: ['calm', 'excited'],
      interval: intervals.arousal,
      tone: 'arousal',
    }),
  ];
}
