/** Valence, arousal and emotions: of the recording and over time. */

import { element } from '../dom.ts';
import { createAffectPlane } from './affect-plane.ts';
import { card } from './card.ts';
import { createEmotionBars } from './emotion-bars.ts';
import { createGauge } from './gauge.ts';
import type { EmotionSignals, Report } from './report.ts';
import { createUtteranceTable } from './timeline.ts';

export function emotionCards(report: Report, signals: EmotionSignals, chart: HTMLElement): HTMLElement[] {
  const { valence, arousal, intervals } = signals;
  return [
    card(
      'Valence and arousal',
      'How positive and how excited the voice sounds to listeners.',
      createAffectPlane(signals, report.emotion.timeline),
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
    ),
    element(
      'div',
      { class: 'stack' },
      card(
        'Over time',
        'Each utterance on its own: speech between pauses, at most ten seconds.',
        chart,
        createUtteranceTable(report),
      ),
      card('Emotions', 'How probable each is, learned mostly from actors.', createEmotionBars(signals)),
    ),
  ];
}
