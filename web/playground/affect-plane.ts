/** Valence and arousal on a plane: the path of the utterances and the point of a recording, or of its last seconds. */
import { element, svg } from '../dom.ts';
import { score } from './format.ts';
import type { EmotionSignals } from './report.ts';

const width = 320;
const height = 318;
const left = 30;
const top = 2;
const span = 286;
/** Above this count utterances are drawn without numbers. */
const mostNumbers = 12;

const across = (valence: number) => left + span * valence;
const down = (arousal: number) => top + span * (1 - arousal);
const text = (value: number) => value.toFixed(1);

type Affect = Pick<EmotionSignals, 'valence' | 'arousal'>;

type AffectPlane = {
  readonly root: HTMLElement;
  /** @param of what the point is of: the whole, the last seconds */
  show(of: string, signals: Affect & Pick<EmotionSignals, 'intervals'>, timeline: readonly Affect[]): void;
};

export function createAffectPlane(): AffectPlane {
  const band = svg('rect', { rx: '6', class: 'plane-band' });
  const utterances = svg('g');
  const point = svg('path', { d: 'M0-8l8 8-8 8-8-8Z', class: 'plane-whole' });
  const picture = svg(
    'svg',
    { class: 'plane', viewBox: `0 0 ${width} ${height}`, role: 'img' },
    ...ground(),
    band,
    utterances,
    point,
  );
  const caption = element('figcaption', { class: 'muted small' });
  return {
    root: element('figure', {}, picture, caption),
    show: (of, { valence, arousal, intervals }, timeline) => {
      const said = `Valence ${score(valence)}, arousal ${score(arousal)} of ${of}.`;
      picture.setAttribute('aria-label', `Plane of valence and arousal. ${said}`);
      placeBand(band, intervals);
      point.style.transform = `translate(${text(across(valence))}px, ${text(down(arousal))}px)`;
      const stops = timeline.flatMap((utterance, index) => stop(utterance, index, timeline.length));
      utterances.replaceChildren(path(timeline), ...stops);
      caption.textContent = `${said} The diamond is this point with its 80 % interval${ofUtterances(timeline.length)}.`;
    },
  };
}

function ofUtterances(count: number): string {
  if (count === 0) return '';
  return count > 1 ? ', circles are the utterances in their order' : ', the circle is the one utterance';
}

function ground(): SVGElement[] {
  const word = (x: number, y: number, anchor: string, says: string, kind = 'plane-word') =>
    svg('text', { x: text(x), y: text(y), 'text-anchor': anchor, class: kind }, says);
  const [middleX, middleY, right, bottom] = [across(0.5), down(0.5), across(1), down(0)];
  const turned = word(0, 0, 'middle', 'Arousal', 'plane-axis');
  turned.setAttribute('transform', `translate(16 ${text(middleY)}) rotate(-90)`);
  const square = { x: text(left), y: text(top), width: text(span), height: text(span), rx: '10' };
  const cross = `M${left} ${text(middleY)}H${text(right)}M${text(middleX)} ${top}V${text(bottom)}`;
  return [
    svg('rect', { ...square, class: 'plane-ground' }),
    svg('path', { d: cross, class: 'plane-cross' }),
    word(left + 12, top + 22, 'start', 'tense'),
    word(right - 12, top + 22, 'end', 'engaged'),
    word(left + 12, bottom - 13, 'start', 'subdued'),
    word(right - 12, bottom - 13, 'end', 'calm'),
    word(middleX, height - 8, 'middle', 'Valence', 'plane-axis'),
    word(left, height - 8, 'start', 'negative', 'plane-end'),
    word(right, height - 8, 'end', 'positive', 'plane-end'),
    turned,
  ];
}

function placeBand({ style }: SVGElement, { valence, arousal }: EmotionSignals['intervals']): void {
  style.setProperty('x', `${text(across(valence[0]))}px`);
  style.setProperty('y', `${text(down(arousal[1]))}px`);
  style.setProperty('width', `${text(span * (valence[1] - valence[0]))}px`);
  style.setProperty('height', `${text(span * (arousal[1] - arousal[0]))}px`);
}

function path(timeline: readonly Affect[]): SVGElement {
  const points = timeline.map(({ valence, arousal }) => `${text(across(valence))},${text(down(arousal))}`);
  return svg('polyline', { points: points.join(' '), class: 'plane-path' });
}

function stop({ valence, arousal }: Affect, index: number, count: number): SVGElement[] {
  const [x, y] = [across(valence), down(arousal)];
  const numbered = count <= mostNumbers;
  const circle = svg('circle', { cx: text(x), cy: text(y), r: numbered ? '9' : '4', class: 'plane-stop' });
  const number = svg('text', { x: text(x), y: text(y + 3.6), class: 'plane-number' }, String(index + 1));
  return numbered ? [circle, number] : [circle];
}
