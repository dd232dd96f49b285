/** The probability of each emotion, most probable first. */
import { element, percent } from '../dom.ts';
import { share } from './format.ts';
import type { EmotionSignals } from './report.ts';

export function createEmotionBars({ emotions }: EmotionSignals): HTMLElement {
  const sorted = Object.entries(emotions).sort(([, a], [, b]) => b - a);
  const rows = sorted.map(([name, probability]) => {
    const fill = element('span', { class: 'bar-fill' });
    fill.style.width = percent(probability);
    return element(
      'li',
      { class: 'bar', 'data-emotion': name },
      element('span', {}, name),
      element('span', { class: 'bar-track', 'aria-hidden': 'true' }, fill),
      element('span', { class: 'number' }, share(probability)),
    );
  });
  return element('ol', { class: 'bars' }, ...rows);
}
