/** The figures of all recordings for a terminal. */
import type { Evaluation } from './evaluation.ts';

export function evaluationText({ figures, notes }: Evaluation): string {
  const all = figures.filter(({ group }) => group === 'all');
  const width = Math.max(0, ...all.map(({ figure }) => figure.length));
  const lines = all.map(({ figure, value, interval, speakers, card, doubt }) => {
    const range = interval === null ? '' : `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}`;
    const compared = card === null ? '' : `card ${card.value.toFixed(3)} (${card.group})`;
    const cells = [
      figure.padEnd(width),
      value.toFixed(3).padStart(6),
      range.padEnd(13),
      `${speakers} speakers`.padEnd(13),
    ];
    return [...cells, compared, doubt ?? ''].join('  ').trimEnd();
  });
  return [...lines, ...notes].map((line) => `${line}\n`).join('');
}
