/** Pictures of an evaluation, as SVG. */
import { type Html, html } from '../runtime/html.ts';
import { type Answer, binOf, meanOf } from './statistics.ts';

const size = 260;
const margin = 44;
const plot = size - 2 * margin;

type Point = readonly [x: number, y: number];

/** Accuracy per tenth of the confidence; a circle's area grows with its recordings. */
export function calibrationPlot(answers: readonly Answer[]): Html {
  const bins = [...new Set(answers.map(({ confidence }) => binOf(confidence)))];
  const circles = bins.map((bin) => {
    const own = answers.filter(({ confidence }) => binOf(confidence) === bin);
    const at: Point = [
      meanOf(own.map(({ confidence }) => confidence)),
      meanOf(own.map(({ correct }) => Number(correct))),
    ];
    const radius = 3 + 9 * Math.sqrt(own.length / answers.length);
    return html`<circle class="value" cx="${x(at)}" cy="${y(at)}" r="${radius.toFixed(1)}"><title>${own.length} recordings: confidence ${at[0].toFixed(2)}, accuracy ${at[1].toFixed(2)}</title></circle>`;
  });
  const diagonal = html`<line class="scale" x1="${x([0, 0])}" y1="${y([0, 0])}" x2="${x([1, 1])}" y2="${y([1, 1])}"/>`;
  return axes('Confidence and accuracy', 'confidence', 'accuracy', html`${diagonal}${circles}`);
}

/** Error of the dominant emotion among the recordings of highest confidence. */
export function riskPlot(answers: readonly Answer[]): Html {
  const ordered = answers.toSorted((one, other) => other.confidence - one.confidence);
  let wrong = 0;
  const points = ordered.map(({ correct }, index): Point => {
    wrong += Number(!correct);
    return [(index + 1) / ordered.length, wrong / (index + 1)];
  });
  const path = points.map((point) => `${x(point)},${y(point)}`).join(' ');
  return axes(
    'Error by coverage',
    'share of recordings, most confident first',
    'error',
    html`<polyline class="line" points="${path}"/>`,
  );
}

function x([value]: Point): string {
  return (margin + value * plot).toFixed(1);
}

function y([, value]: Point): string {
  return (size - margin - value * plot).toFixed(1);
}

function axes(title: string, horizontal: string, vertical: string, content: Html): Html {
  const ticks = [0, 0.5, 1].map(
    (at) => html`<text x="${x([at, 0])}" y="${size - margin + 16}" text-anchor="middle">${at}</text>
      <text x="${margin - 8}" y="${y([0, at])}" text-anchor="end" dominant-baseline="middle">${at}</text>`,
  );
  return html`<figure><svg viewBox="0 0 ${size} ${size}" width="${size}" height="${size}" role="img" aria-label="${title}">
    <rect class="frame" x="${margin}" y="${margin}" width="${plot}" height="${plot}"/>${ticks}${content}
    <text x="${size / 2}" y="${size - 4}" text-anchor="middle">${horizontal}</text>
    <text transform="translate(11 ${size / 2}) rotate(-90)" text-anchor="middle">${vertical}</text></svg>
    <figcaption>${title}</figcaption></figure>`;
}
