/** The HTML report of an evaluation: one file without scripts, its pictures in SVG. */

import { type Html, html } from '../../service/html.ts';
import { intervalPicture, scaleOf } from '../../service/interval-picture.ts';
import { comparisonRows } from './comparison.ts';
import { type Evaluation, nothingInCommon } from './evaluation.ts';
import type { Figure } from './figures.ts';
import { type Answer, binOf, meanOf } from './statistics.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: light-dark(#d8dedd, #33403e);
  --accent: light-dark(#0b6e6e, #5fc7c0); --muted: light-dark(#51605e, #9fb0ad); --text: light-dark(#14211f, #e8efee); }
body { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; color: var(--text); background: light-dark(#fff, #0f1716); }
h2 { margin-top: 2.5rem; } .muted, figcaption { color: var(--muted); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: middle; }
tbody th { font-weight: 400; } .warn { border-left: 4px solid light-dark(#b26a00, #f0b35a); padding-left: .8rem; }
.plots { display: flex; flex-wrap: wrap; gap: 2rem; } figure { margin: 0; } figcaption { text-align: center; }
.confusion td, .confusion th { padding: .3rem .6rem; text-align: right; } .confusion th:first-child { text-align: left; }
svg text { font-size: 11px; fill: var(--muted); } .frame { fill: none; stroke: var(--line); } .scale { stroke: var(--line); }
.interval { stroke: var(--accent); stroke-width: 3; } .value { fill: var(--accent); fill-opacity: .8; }
.line { fill: none; stroke: var(--accent); stroke-width: 2; }`;

export function evaluationPage(evaluation: Evaluation): string {
  const { at, undertone, models, figures, answers, notes } = evaluation;
  const groups = [...new Set(figures.map(({ group }) => group))];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evaluation of Undertone</title><style>${{ html: style }}</style></head><body>
<h1>Evaluation of Undertone on your recordings</h1>
<p class="muted">${at}, Undertone ${undertone}, ${models.map(({ name, version }) => `${name} ${version}`).join(', ')}</p>
${notes.map((note) => html`<p class="warn">${note}</p>`)}
${evaluation.comparison && comparisonSection(evaluation.comparison)}
${groups.map((group) =>
  figureSection(
    group,
    figures.filter((figure) => figure.group === group),
  ),
)}
${answers.length === 0 ? null : html`<h2>Pictures</h2><div class="plots">${calibrationPlot(answers)}${riskPlot(answers)}</div>`}
${confusionSection(evaluation.confusion)}
</body></html>
`.html;
}

function comparisonSection({ sets, figures }: NonNullable<Evaluation['comparison']>): Html {
  if (figures.length === 0) return html`<p class="warn">${nothingInCommon}</p>`;
  const heads = [...sets, 'Difference, 95 % interval', 'Better'].map(
    (head) => html`<th scope="col">${head}</th>`,
  );
  const rows = comparisonRows(figures).map(
    ([figure = '', ...cells]) =>
      html`<tr><th scope="row">${figure}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  );
  return html`<h2>Two sets of models</h2><div class="scroll" role="region" tabindex="0" aria-label="Two sets of models"><table>
    <thead><tr><th scope="col">Figure</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function figureSection(group: string, figures: readonly Figure[]): Html {
  const scale = scaleOf(figures);
  const rows = figures.map((figure) => {
    const { value, interval, speakers, recordings, doubt, card } = figure;
    const range = interval === null ? '' : ` (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
    return html`<tr><th scope="row">${figure.figure}</th><td>${intervalPicture(figure, scale)}</td>
      <td>${value.toFixed(3)}${range}</td><td>${speakers}</td><td>${recordings}</td>
      <td>${card === null ? '' : `${card.value.toFixed(3)}, ${card.group}`}</td><td>${doubt ?? ''}</td></tr>`;
  });
  return html`<h2>${group === 'all' ? 'All recordings' : `Group ${group}`}</h2><div class="scroll" role="region" tabindex="0" aria-label="Figures"><table>
    <thead><tr><th scope="col">Figure</th><th></th><th scope="col">Value, 95 % interval</th><th scope="col">Speakers</th>
      <th scope="col">Recordings</th><th scope="col">Card of the models</th><th scope="col">Doubt</th></tr></thead>
    <tbody>${rows}</tbody></table></div>`;
}

function confusionSection(confusion: Evaluation['confusion']): Html | null {
  const truths = Object.keys(confusion);
  if (truths.length === 0) return null;
  const predicted = [...new Set(truths.flatMap((label) => Object.keys(confusion[label] ?? {})))].sort();
  const rows = truths.map((label) => {
    const row = confusion[label] ?? {};
    const total = Object.values(row).reduce((sum, count) => sum + count, 0);
    const cells = predicted.map((other) => {
      const count = row[other] ?? 0;
      const share = total === 0 ? 0 : Math.round((100 * count) / total);
      return html`<td style="background: color-mix(in srgb, var(--accent) ${Math.round(share / 2)}%, transparent)">${count}</td>`;
    });
    return html`<tr><th scope="row">${label}</th>${cells}</tr>`;
  });
  return html`<h2>Confusion</h2><p class="muted">Rows: your labels. Columns: the dominant emotion.</p>
    <div class="scroll" role="region" tabindex="0" aria-label="Confusion"><table class="confusion"><thead><tr><th></th>${predicted.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
    <tbody>${rows}</tbody></table></div>`;
}

const size = 260;
const margin = 44;
const plot = size - 2 * margin;

type Point = readonly [x: number, y: number];

/** Accuracy per tenth of the confidence; a circle's area grows with its recordings. */
function calibrationPlot(answers: readonly Answer[]): Html {
  const bins = [...new Set(answers.map(({ confidence }) => binOf(confidence)))];
  const circles = bins.map((bin) => {
    const inBin = answers.filter(({ confidence }) => binOf(confidence) === bin);
    const at: Point = [
      meanOf(inBin.map(({ confidence }) => confidence)),
      meanOf(inBin.map(({ correct }) => Number(correct))),
    ];
    const radius = 3 + 9 * Math.sqrt(inBin.length / answers.length);
    return html`<circle class="value" cx="${x(at)}" cy="${y(at)}" r="${radius.toFixed(1)}"><title>${inBin.length} recordings: confidence ${at[0].toFixed(2)}, accuracy ${at[1].toFixed(2)}</title></circle>`;
  });
  const diagonal = html`<line class="scale" x1="${x([0, 0])}" y1="${y([0, 0])}" x2="${x([1, 1])}" y2="${y([1, 1])}"/>`;
  return axes('Confidence and accuracy', 'confidence', 'accuracy', html`${diagonal}${circles}`);
}

/** Error of the dominant emotion among the recordings of highest confidence. */
function riskPlot(answers: readonly Answer[]): Html {
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
