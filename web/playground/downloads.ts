/** The report as files: JSON, CSV of the utterances, and a picture of the plane. */
import { element } from '../dom.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import { button } from './button.ts';
import type { Report } from './report.ts';

/** @param plane drawn in the page; null without scores */
export function createDownloads(
  { recording }: AnalysisRequest,
  { report, json }: Answer,
  plane: SVGElement | null,
): HTMLElement {
  const stem = recording.name.replace(/\.[^.]*$/, '');
  const offer = (extension: string, type: string, content: () => string) =>
    button('', () => save(`${stem}.${extension}`, new Blob([content()], { type })), extension.toUpperCase());
  return element(
    'div',
    { class: 'row', role: 'group', 'aria-label': 'Download the report' },
    element('span', { class: 'small muted' }, 'Download'),
    offer('json', 'application/json', () => json),
    offer('csv', 'text/csv', () => toCsv(report)),
    plane === null ? null : offer('svg', 'image/svg+xml', () => picture(plane)),
  );
}

/** Creates its object URL on click, so that the page holds no copy of the file. */
function save(name: string, blob: Blob): void {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A line per utterance; models without a signal leave its columns empty. */
export function toCsv({ emotion, cognitive }: Pick<Report, 'emotion' | 'cognitive'>): string {
  const labels = Object.keys(emotion.timeline[0]?.emotions ?? {});
  const head = [
    'start_s',
    'end_s',
    'valence',
    'arousal',
    'dominant_emotion',
    'confidence',
    'clarity',
    ...labels,
  ];
  const utterances = emotion.timeline.length > 0 ? emotion.timeline : cognitive.timeline;
  const rows = utterances.map(({ start_s, end_s }) => {
    const scores = emotion.timeline.find((entry) => entry.start_s === start_s);
    const { valence, arousal, dominant_emotion, confidence } = scores ?? {};
    const clarity = cognitive.timeline.find((entry) => entry.start_s === start_s)?.clarity;
    const probabilities = labels.map((label) => scores?.emotions[label]);
    return [start_s, end_s, valence, arousal, dominant_emotion, confidence, clarity, ...probabilities];
  });
  return [head, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

const drawn = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'paint-order',
  'opacity',
];
const written = [
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'x',
  'y',
  'width',
  'height',
  'transform',
];

/** A copy that needs no style sheet. */
function picture(plane: SVGElement): string {
  const copy = plane.cloneNode(true) as SVGElement;
  const originals = plane.querySelectorAll('*');
  for (const [index, shape] of copy.querySelectorAll('*').entries()) {
    const style = getComputedStyle(originals[index] as Element);
    const rules = [...drawn, ...written].map((name) => `${name}:${style.getPropertyValue(name)}`);
    shape.setAttribute('style', rules.join(';'));
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
}
