/** Cards of the cognitive signals and their measures. */
import { card, wide } from './card.ts';
import { createCognitiveView } from './cognitive-view.ts';
import { createMeasuresTable } from './measures-table.ts';
import type { CognitiveSignals, Report } from './report.ts';

export function cognitiveCards(
  { cognitive }: Report,
  signals: CognitiveSignals,
  before: CognitiveSignals | null,
): HTMLElement[] {
  const counted = cognitive.relative
    ? 'Load and processing are counted from the baseline: 0.50 is as at rest.'
    : 'Load and processing are indices against reference recordings: 0.50 is their median. Add a baseline to count from the same voice at rest.';
  return [
    wide(card('Effort and fluency', counted, createCognitiveView(cognitive, signals, before))),
    card(
      'Measures',
      'What was timed, and the ground of the indices above.',
      createMeasuresTable(cognitive.measures),
    ),
  ];
}
