/** Cards of the cognitive signals and their measures. */
import { card, wide } from './card.ts';
import { confidenceNote, createCognitiveView } from './cognitive-view.ts';
import { createMeasuresTable } from './measures-table.ts';
import type { CognitiveSignals, Report } from './report.ts';
import type { Rules } from './rules.ts';

export function cognitiveCards(
  { cognitive }: Report,
  signals: CognitiveSignals,
  before: CognitiveSignals | null,
  { reference }: Rules,
): HTMLElement[] {
  const counted = cognitive.relative
    ? 'Load and processing are compared with the baseline: 0.50 is the same as at rest.'
    : 'Load and processing are compared with reference recordings: 0.50 is their median. Add a baseline to compare with the same voice at rest.';
  return [
    wide(
      card(
        'Effort and fluency',
        counted,
        confidenceNote(signals),
        createCognitiveView(cognitive, signals, { before, reference }),
      ),
    ),
    card(
      'Measures',
      'What was timed, and the ground of the indices above.',
      createMeasuresTable(cognitive.measures),
    ),
  ];
}
