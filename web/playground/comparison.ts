/** Two recordings side by side. */
import { element } from '../dom.ts';
import type { Answer } from './analyze.ts';
import { clarityGauge, indexGauge, isUncertain } from './cognitive-view.ts';
import { affectGauges, affectPlane } from './emotion-cards.ts';
import { cognitiveSignals, emotionReason, emotionSignals } from './report.ts';
import type { Rules } from './rules.ts';
import { headline } from './summary.ts';

/** A report that was kept for comparison. */
export type Kept = { readonly name: string; readonly answer: Answer };

export function createComparison(left: Kept, right: Kept, rules: Rules): HTMLElement {
  return element('div', { class: 'columns comparison' }, column(left, rules), column(right, rules));
}

function column({ name, answer: { report } }: Kept, { tone }: Rules): HTMLElement {
  const [emotion, cognitive] = [emotionSignals(report), cognitiveSignals(report)];
  const affect =
    emotion === null
      ? [element('p', {}, emotionReason(report) ?? '')]
      : [
          ...headline(emotion, report.emotion.warnings),
          affectPlane(report, emotion, tone),
          ...affectGauges(emotion),
        ];
  const scores =
    cognitive === null
      ? [element('p', {}, 'Too little speech')]
      : [
          ...affect,
          indexGauge('cognitive_load', cognitive, isUncertain(cognitive)),
          clarityGauge(cognitive),
          indexGauge('processing', cognitive, isUncertain(cognitive)),
        ];
  return element('section', { class: 'stack', 'aria-label': name }, element('h4', {}, name), ...scores);
}
