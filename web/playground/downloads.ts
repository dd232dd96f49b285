/** Files of a report, and of a call as a whole: JSON, CSV of the utterances, annotations for Praat and Audacity, and pictures. */
import { tiersOf, toLabels, toTextGrid, unassignedTiers } from '../../src/tools/annotations.ts';
import { button, element } from '../elements.ts';
import type { Answer, Recording } from './analyze.ts';
import type { Lane } from './lane.ts';
import type { Emotion, Report, SeveralReport } from './report.ts';
import { colour } from './waveform.ts';
import { clock } from './wording.ts';

/** A voice of a call: its name, its report, and what is drawn of it on the time axis. */
type DrawnVoice = {
  readonly name: string;
  readonly report: Report;
  readonly lane: Pick<Lane, 'columns' | 'affect'> | null;
};

export function createDownloads(
  { name }: Recording,
  { report, json }: Answer<Report>,
  voice: string | null,
  plane: SVGElement | null,
): HTMLElement {
  const { audio, emotion } = report;
  const stem = voice === null ? stemOf(name) : `${stemOf(name)}-${voice.toLowerCase().replace(' ', '-')}`;
  const tiers = () => tiersOf(report, voice ?? undefined);
  return group('Download the report', [
    offer(stem, 'json', () => json),
    emotion.timeline.length === 0 ? null : offer(stem, 'csv', () => toCsv([{ report }])),
    offer(stem, 'TextGrid', () => toTextGrid(audio.duration_s, tiers()), 'Praat'),
    offer(stem, 'txt', () => toLabels(tiers()), 'Audacity'),
    plane === null ? null : offer(stem, 'svg', () => planePicture(plane)),
  ]);
}

/** @param voices called at each download: names may be typed until then */
export function createCallDownloads(
  { name }: Recording,
  { report, json }: Answer<SeveralReport>,
  voices: () => readonly DrawnVoice[],
): HTMLElement {
  const stem = stemOf(name);
  const tiers = () => [
    ...voices().flatMap((voice) => tiersOf(voice.report, voice.name)),
    ...unassignedTiers(report),
  ];
  return group('Download the call', [
    offer(stem, 'json', () => json),
    offer(stem, 'csv', () => toCsv(voices())),
    offer(stem, 'TextGrid', () => toTextGrid(report.audio.duration_s, tiers()), 'Praat'),
    offer(stem, 'txt', () => toLabels(tiers()), 'Audacity'),
    offer(stem, 'svg', () => callPicture(voices())),
    offerPng(stem, () => callPicture(voices())),
  ]);
}

const stemOf = (name: string) => name.replace(/\.[^.]*$/, '');

function group(label: string, buttons: readonly (HTMLElement | null)[]): HTMLElement {
  return element(
    'div',
    { class: 'row', role: 'group', 'aria-label': label },
    element('span', { class: 'small muted' }, 'Download'),
    ...buttons,
  );
}

const types: Readonly<Record<string, string>> = {
  json: 'application/json',
  csv: 'text/csv',
  svg: 'image/svg+xml',
};

function offer(
  stem: string,
  extension: string,
  content: () => string,
  label = extension.toUpperCase(),
): HTMLElement {
  const type = types[extension] ?? 'text/plain';
  return button('', () => save(`${stem}.${extension}`, new Blob([content()], { type })), label);
}

function offerPng(stem: string, picture: () => string): HTMLElement {
  const failure = element('span', { class: 'small', role: 'alert' });
  const download = async () => {
    const png = await toPng(picture()).catch(() => null);
    failure.textContent = png === null ? 'The picture is too large for this browser: save it as SVG.' : '';
    if (png !== null) save(`${stem}.png`, png);
  };
  return element(
    'span',
    { class: 'row' },
    button('', () => void download(), 'PNG'),
    failure,
  );
}

/** Creates its object URL on click, so that the page holds no copy of the file. */
export function save(name: string, blob: Blob): void {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

type Row = readonly (string | number | null | undefined)[];

/** A line per utterance, in order of time; the first column is the voice where there are names. */
function toCsv(
  voices: readonly { readonly name?: string; readonly report: Pick<Report, 'emotion'> }[],
): string {
  const fields = ['start_s', 'end_s', 'valence', 'arousal', 'dominant_emotion', 'confidence'] as const;
  const affect = ['valence', 'arousal'] as const;
  const changes = affect.map((name) => `${name}_change`);
  const [{ emotions = {} } = {}] = voices.flatMap(({ report }) => report.emotion.timeline);
  const labels = Object.keys(emotions);
  const isNamed = voices.some(({ name }) => name !== undefined);
  const compared = [...changes, 'relative_emotion', 'moment_spreads'];
  const head = [...(isNamed ? ['speaker'] : []), ...fields, ...labels, ...compared];
  const spreadsOf = ({ moments }: Emotion, start: number) =>
    moments?.find(({ start_s }) => start_s === start)?.differences[0]?.spreads;
  const rows = voices.flatMap(({ name, report: { emotion } }) =>
    emotion.timeline.map((entry): readonly [number, Row] => [
      entry.start_s,
      [
        ...(isNamed ? [name] : []),
        ...fields.map((field) => entry[field]),
        ...labels.map((label) => entry.emotions[label]),
        ...affect.map((measure) => entry.relative?.[measure].change),
        entry.relative?.emotion,
        spreadsOf(emotion, entry.start_s),
      ],
    ]),
  );
  const sorted = rows.toSorted(([one], [other]) => one - other).map(([, row]) => row);
  return [head, ...sorted].map((row: Row) => `${row.map(toCell).join(',')}\r\n`).join('');
}

/** A typed name may have any character; spreadsheets run cells that begin with one of four. */
function toCell(value: Row[number]): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// Pictures: copies that need no style sheet.

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

function planePicture(plane: SVGElement): string {
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

const size = { width: 1200, label: 24, columns: 40, affect: 30, between: 2, gap: 12, margin: 16 };
/** Times below the lanes. */
const timesInRow = 8;

/**
 * A lane per voice on the ground of the page: its utterances in the colours of their emotions, and valence and arousal with their
 * intervals.
 */
function callPicture(voices: readonly DrawnVoice[]): string {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('font-family', getComputedStyle(document.body).fontFamily);
  const ground = add(svg, 'rect', fillOf(colour('surface')));
  let top = 0;
  for (const { name, lane } of voices) {
    addText(svg, 0, top, name);
    top += size.label;
    const affect = lane?.affect.map((track) => [track, size.affect] as const) ?? [];
    for (const [track, height] of [[lane?.columns, size.columns] as const, ...affect]) {
      if (track == null) continue;
      add(svg, 'rect', {
        x: '0',
        y: String(top),
        width: String(size.width),
        height: String(height - size.between),
        fill: '#8881',
      });
      drawTrack(svg, track, top, height - size.between);
      top += height;
    }
    top += size.gap;
  }
  const seconds = voices[0]?.report.audio.duration_s ?? 0;
  for (let index = 0; index < timesInRow; index++)
    addText(svg, (index * size.width) / timesInRow, top, clock((index * seconds) / timesInRow));
  top += size.label;
  const colours = [...coloursOf(voices)];
  for (const [index, [name, colour]] of colours.entries()) {
    const left = (index * size.width) / colours.length;
    add(svg, 'rect', { x: String(left), y: String(top + 5), width: '12', height: '12', ...fillOf(colour) });
    addText(svg, left + 18, top, name);
  }
  top += size.label;
  const [width, height] = [size.width + 2 * size.margin, top + 2 * size.margin];
  svg.setAttribute('viewBox', `${-size.margin} ${-size.margin} ${width} ${height}`);
  for (const part of [svg, ground]) {
    part.setAttribute('width', String(width));
    part.setAttribute('height', String(height));
  }
  for (const edge of ['x', 'y']) ground.setAttribute(edge, String(-size.margin));
  return new XMLSerializer().serializeToString(svg);
}

/** What the track shows, from where its parts are on the page. */
function drawTrack(svg: SVGElement, track: HTMLElement, top: number, height: number): void {
  const frame = track.getBoundingClientRect();
  for (const part of track.querySelectorAll('*')) {
    const { left, top: y, width, height: tall } = part.getBoundingClientRect();
    const { backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(part);
    const across = size.width / frame.width;
    const down = height / frame.height;
    for (const [fill, size] of [
      [fillOf(backgroundColor), tall],
      [fillOf(borderTopColor), Number.parseFloat(borderTopWidth)],
    ] as const) {
      if (fill['fill-opacity'] === '0' || size === 0) continue;
      add(svg, 'rect', {
        x: String((left - frame.left) * across),
        y: String(top + (y - frame.top) * down),
        width: String(width * across),
        height: String(Math.max(1, size * down)),
        ...fill,
      });
    }
  }
}

/** Name and colour of each emotion, and of valence and arousal, of the first voice that has it. */
function coloursOf(voices: readonly DrawnVoice[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { lane } of voices) {
    for (const part of lane?.columns.querySelectorAll<HTMLElement>('[data-emotion]') ?? [])
      found.set(part.dataset.emotion ?? '', getComputedStyle(part).backgroundColor);
    for (const line of lane?.affect.flatMap((track) => [
      ...track.querySelectorAll<HTMLElement>('.affect-line'),
    ]) ?? [])
      found.set(line.classList[1] ?? '', getComputedStyle(line).borderTopColor);
  }
  return found;
}

/** Of a computed colour: `rgb(...)`, or `color(srgb ...)` of color-mix. */
function fillOf(colour: string) {
  const scale = colour.startsWith('color(') ? 255 : 1;
  const numbers = (colour.match(/[\d.]+(?:e[+-]?\d+)?(?=[ ,/)])/g) ?? []).map(Number);
  const [red, green, blue] = numbers.map((value) => Math.round(scale * value));
  return { fill: `rgb(${red}, ${green}, ${blue})`, 'fill-opacity': String(numbers[3] ?? 1) };
}

function addText(svg: SVGElement, left: number, top: number, text: string): void {
  const place = { x: String(left), y: String(top + 16), 'font-size': '14' };
  add(svg, 'text', { ...place, ...fillOf(colour('muted')) }).textContent = text;
}

function add(svg: SVGElement, kind: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  svg.append(made);
  return made;
}

/** Pixels of a PNG per unit of its picture. */
const pngScale = 2;

/** The picture as an image; null, or a rejection, where the browser has none of its size. */
async function toPng(picture: string): Promise<Blob | null> {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([picture], { type: 'image/svg+xml' }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = element('canvas');
  canvas.width = pngScale * image.width;
  canvas.height = pngScale * image.height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
