/** The report as files: JSON, CSV of the utterances, annotations for Praat and Audacity, and a picture of the plane. */

import { tiersOf, toLabels, toTextGrid } from '../../src/tools/annotations.ts';
import { button, element } from '../elements.ts';
import type { AnalysisRequest, Answer } from './analyze.ts';
import type { Emotion, Report } from './report.ts';

/** @param voice its name, of several @param plane drawn in the page; null without scores */
export function createDownloads(
  { recording }: AnalysisRequest,
  { report, json }: Answer<Report>,
  voice: string | null,
  plane: SVGElement | null,
): HTMLElement {
  const { audio, emotion } = report;
  const name = recording.name.replace(/\.[^.]*$/, '');
  const stem = voice === null ? name : `${name}-${voice.toLowerCase().replace(' ', '-')}`;
  const tiers = () => tiersOf(report, voice ?? undefined);
  const offer = (extension: string, type: string, content: () => string, label = extension.toUpperCase()) =>
    button('', () => save(`${stem}.${extension}`, new Blob([content()], { type })), label);
  return element(
    'div',
    { class: 'row', role: 'group', 'aria-label': 'Download the report' },
    element('span', { class: 'small muted' }, 'Download'),
    offer('json', 'application/json', () => json),
    emotion.timeline.length === 0 ? null : offer('csv', 'text/csv', () => toCsv(emotion)),
    offer('TextGrid', 'text/plain', () => toTextGrid(audio.duration_s, tiers()), 'Praat'),
    offer('txt', 'text/plain', () => toLabels(tiers()), 'Audacity'),
    plane === null ? null : offer('svg', 'image/svg+xml', () => picture(plane)),
  );
}

/** Creates its object URL on click, so that the page holds no copy of the file. */
function save(name: string, blob: Blob): void {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A line per utterance. */
export function toCsv({ timeline, moments }: Pick<Emotion, 'timeline' | 'moments'>): string {
  const labels = Object.keys(timeline[0]?.emotions ?? {});
  const fields = ['start_s', 'end_s', 'valence', 'arousal', 'dominant_emotion', 'confidence'] as const;
  const affect = ['valence', 'arousal'] as const;
  const changes = affect.map((name) => `${name}_change`);
  const head = [...fields, ...labels, ...changes, 'moment_spreads'];
  const spreadsOf = (start: number) =>
    moments.find(({ start_s }) => start_s === start)?.differences[0]?.spreads;
  const rows = timeline.map((entry) => [
    ...fields.map((field) => entry[field]),
    ...labels.map((label) => entry.emotions[label]),
    ...affect.map((name) => entry.relative?.[name].change),
    spreadsOf(entry.start_s),
  ]);
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
