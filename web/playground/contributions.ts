/** The effect of each measure, from the reference to the score. */
import { element, percent } from '../dom.ts';
import { score, signed } from './format.ts';
import { measureName } from './messages.ts';
import type { Contribution } from './report.ts';

type Scale = {
  /** The reference score. */
  readonly origin: number;
  readonly total: number;
  /** Effect of a full bar. */
  readonly widest: number;
};

export function createContributions(
  contributions: readonly Contribution[],
  { origin, total, widest }: Scale,
): HTMLElement {
  const rows = contributions.map(({ measure, effect, source }) =>
    element(
      'li',
      {},
      element(
        'p',
        { class: 'effect-head' },
        element('span', {}, measureName(measure)),
        element('strong', { class: 'number' }, signed(effect)),
      ),
      bar(effect / widest),
      element('p', { class: 'muted small' }, source),
    ),
  );
  const sum = `${score(origin)} to start from, with these effects ${score(total)}.`;
  return element(
    'div',
    { class: 'effects' },
    element('p', { class: 'small muted number' }, sum),
    element('ul', {}, ...rows),
  );
}

/** @param reach -1 to 1 */
function bar(reach: number): HTMLElement {
  const fill = element('span', { class: reach < 0 ? 'effect-fill down' : 'effect-fill up' });
  fill.style.width = percent(Math.abs(reach) / 2);
  return element('span', { class: 'effect-track', 'aria-hidden': 'true' }, fill);
}
