/** Valence and arousal on a plane: the path of the utterances and the point of a recording, or of its last seconds. */
import { scoreEnds } from '../../src/engine/signals/score-ends.ts';
import { element, svg } from '../elements.ts';
import type { Affect, EmotionSignals, ToneBounds } from './report.ts';
import { score } from './wording.ts';

const width = 320;
const planeHeight = 318;
const left = 30;
const top = 2;
const span = 286;
/** Above this count the utterances are drawn as a map of their density. */
const mostNumbers = 12;
/** Of the density, along each axis. */
const cells = 25;
const radius = { numbered: 9, covered: 3.5 };

const across = (valence: number) => left + span * valence;
const down = (arousal: number) => top + span * (1 - arousal);
const text = (value: number) => value.toFixed(1);

type AffectPlane = {
  readonly root: HTMLElement;
  /** @param of what the point is of: the whole, the last seconds */
  show(of: string, signals: Affect & Pick<EmotionSignals, 'intervals'>, timeline: readonly Affect[]): void;
};

/** @param bounds between the words of the signal's tone */
export function createAffectPlane(bounds: ToneBounds | null): AffectPlane {
  const band = svg('rect', { rx: '6', class: 'plane-band' });
  const utterances = svg('g');
  const point = svg('path', { d: 'M0-8l8 8-8 8-8-8Z', class: 'plane-whole' });
  const picture = svg(
    'svg',
    { class: 'plane', viewBox: `0 0 ${width} ${planeHeight}`, role: 'img' },
    ...ground(bounds),
    band,
    utterances,
    point,
    ...words(bounds),
  );
  const caption = element('figcaption', { class: 'muted small' });
  return {
    root: element('figure', {}, picture, caption),
    show: (of, { valence, arousal, intervals }, timeline) => {
      const said = `Valence ${score(valence)}, arousal ${score(arousal)} of ${of}.`;
      picture.setAttribute('aria-label', `Plane of valence and arousal. ${said}`);
      placeBand(band, intervals);
      point.style.transform = `translate(${text(across(valence))}px, ${text(down(arousal))}px)`;
      utterances.replaceChildren(
        ...(isDense(timeline) ? density(timeline) : [path(timeline), ...stops(timeline)]),
      );
      const hasBand = intervals.valence !== null && intervals.arousal !== null;
      caption.textContent = `The diamond is ${of}${hasBand ? ' with its range' : ''}${ofUtterances(timeline)}.`;
    },
  };
}

function ofUtterances(timeline: readonly Affect[]): string {
  const count = timeline.length;
  if (count === 0) return '';
  if (isDense(timeline)) return `, darker cells hold more of the ${count} utterances`;
  return count > 1
    ? ', circles are the utterances in their order, dots those close to one'
    : ', the circle is the one utterance';
}

function ground(bounds: ToneBounds | null): SVGElement[] {
  const square = { x: text(left), y: text(top), width: text(span), height: text(span), rx: '10' };
  return [svg('rect', { ...square, class: 'plane-ground' }), ...(bounds === null ? [] : middle(bounds))];
}

/** Where the tone is neutral, and the border of the most negative tone. */
function middle(bounds: ToneBounds): SVGElement[] {
  const { lowArousal, highArousal, veryLowValence, lowValence, highValence } = bounds;
  const area = (valence: readonly [number, number], arousal: readonly [number, number]) =>
    svg('rect', {
      x: text(across(valence[0])),
      y: text(down(arousal[1])),
      width: text(span * (valence[1] - valence[0])),
      height: text(span * (arousal[1] - arousal[0])),
      class: 'plane-neutral',
    });
  const border = `M${text(across(veryLowValence))} ${top}V${text(down(highArousal))}`;
  return [
    area([0, 1], [lowArousal, highArousal]),
    area([lowValence, highValence], [highArousal, 1]),
    area([lowValence, highValence], [0, lowArousal]),
    svg('path', { d: border, class: 'plane-cross' }),
  ];
}

/** Drawn last, so that nothing covers them. */
function words(bounds: ToneBounds | null): SVGElement[] {
  const word = (x: number, y: number, anchor: string, says: string, kind = 'plane-word') =>
    svg('text', { x: text(x), y: text(y), 'text-anchor': anchor, class: kind }, says);
  const [middleX, middleY, right, bottom] = [across(0.5), down(0.5), across(1), down(0)];
  const turned = (y: number, anchor: string, says: string, kind: string) => {
    const made = word(0, 0, anchor, says, kind);
    made.setAttribute('transform', `translate(16 ${text(y)}) rotate(-90)`);
    return made;
  };
  const tones =
    bounds === null
      ? []
      : [
          word(left + 6, top + 18, 'start', 'distressed'),
          word(across(bounds.veryLowValence) + 6, top + 18, 'start', 'tense'),
          word(right - 12, top + 18, 'end', 'engaged'),
          word(left + 12, bottom - 13, 'start', 'subdued'),
          word(right - 12, bottom - 13, 'end', 'calm'),
          word(right - 12, middleY + 4, 'end', 'neutral'),
        ];
  return [
    ...tones,
    word(middleX, planeHeight - 8, 'middle', 'Valence', 'plane-axis'),
    word(left, planeHeight - 8, 'start', scoreEnds.valence[0], 'plane-end'),
    word(right, planeHeight - 8, 'end', scoreEnds.valence[1], 'plane-end'),
    turned(middleY, 'middle', 'Arousal', 'plane-axis'),
    turned(bottom, 'start', scoreEnds.arousal[0], 'plane-end'),
    turned(top, 'end', scoreEnds.arousal[1], 'plane-end'),
  ];
}

function placeBand({ style }: SVGElement, { valence, arousal }: EmotionSignals['intervals']): void {
  if (valence === null || arousal === null) return;
  style.setProperty('x', `${text(across(valence[0]))}px`);
  style.setProperty('y', `${text(down(arousal[1]))}px`);
  style.setProperty('width', `${text(span * (valence[1] - valence[0]))}px`);
  style.setProperty('height', `${text(span * (arousal[1] - arousal[0]))}px`);
}

/** So many utterances that circles and their path would cover one another. */
function isDense(timeline: readonly Affect[]): boolean {
  return timeline.length > mostNumbers;
}

/** Cells of the plane, darker with more utterances. */
function density(timeline: readonly Affect[]): SVGElement[] {
  const counts = new Map<number, number>();
  const cellOf = (value: number) => Math.min(cells - 1, Math.floor(value * cells));
  for (const { valence, arousal } of timeline) {
    const cell = cellOf(arousal) * cells + cellOf(valence);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return [...counts].map(([cell, count]) =>
    svg('rect', {
      x: text(across((cell % cells) / cells)),
      y: text(down((Math.floor(cell / cells) + 1) / cells)),
      width: text(span / cells),
      height: text(span / cells),
      'fill-opacity': (0.15 + (0.75 * count) / most).toFixed(2),
      class: 'plane-cell',
    }),
  );
}

function path(timeline: readonly Affect[]): SVGElement {
  const points = timeline.map(({ valence, arousal }) => `${text(across(valence))},${text(down(arousal))}`);
  return svg('polyline', { points: points.join(' '), class: 'plane-path' });
}

/** Circles with a number; dots where a circle would cover an earlier one. */
function stops(timeline: readonly Affect[]): SVGElement[] {
  const numbered: { x: number; y: number }[] = [];
  return timeline.flatMap(({ valence, arousal }, index) => {
    const [x, y] = [across(valence), down(arousal)];
    const covers = numbered.some((other) => Math.hypot(x - other.x, y - other.y) < 2 * radius.numbered);
    if (!covers) numbered.push({ x, y });
    const r = text(covers ? radius.covered : radius.numbered);
    const circle = svg('circle', { cx: text(x), cy: text(y), r, class: 'plane-stop' });
    if (covers) return circle;
    return [circle, svg('text', { x: text(x), y: text(y + 3.6), class: 'plane-number' }, String(index + 1))];
  });
}
