/** Valence and arousal on a plane: the path of the utterances and the point of the whole recording. */
import { element, svg } from '../dom.ts';
import { score } from './format.ts';
import type { Emotion, EmotionSignals } from './report.ts';

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

export function createAffectPlane(signals: EmotionSignals, timeline: Emotion['timeline']): HTMLElement {
  const said = `On the whole valence ${score(signals.valence)}, arousal ${score(signals.arousal)}.`;
  const picture = svg(
    'svg',
    {
      class: 'plane',
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `Plane of valence and arousal. ${said}`,
    },
    ...ground(),
    band(signals.intervals),
    path(timeline),
    ...timeline.flatMap((utterance, index) => stop(utterance, index, timeline.length)),
    whole(signals),
  );
  const caption = `${said} The diamond is the whole with its 80 % interval, ${
    timeline.length > 1 ? 'circles are the utterances in their order.' : 'the circle its one utterance.'
  }`;
  return element('figure', {}, picture, element('figcaption', { class: 'muted small' }, caption));
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

function band({ valence, arousal }: EmotionSignals['intervals']): SVGElement {
  return svg('rect', {
    x: text(across(valence[0])),
    y: text(down(arousal[1])),
    width: text(span * (valence[1] - valence[0])),
    height: text(span * (arousal[1] - arousal[0])),
    rx: '6',
    class: 'plane-band',
  });
}

function path(timeline: Emotion['timeline']): SVGElement {
  const points = timeline.map(({ valence, arousal }) => `${text(across(valence))},${text(down(arousal))}`);
  return svg('polyline', { points: points.join(' '), class: 'plane-path' });
}

function stop({ valence, arousal }: Emotion['timeline'][number], index: number, count: number): SVGElement[] {
  const [x, y] = [across(valence), down(arousal)];
  const numbered = count <= mostNumbers;
  const circle = svg('circle', { cx: text(x), cy: text(y), r: numbered ? '9' : '4', class: 'plane-stop' });
  const number = svg('text', { x: text(x), y: text(y + 3.6), class: 'plane-number' }, String(index + 1));
  return numbered ? [circle, number] : [circle];
}

function whole({ valence, arousal }: EmotionSignals): SVGElement {
  const [x, y] = [across(valence), down(arousal)];
  return svg('path', { d: `M${text(x)} ${text(y - 8)}l8 8-8 8-8-8Z`, class: 'plane-whole' });
}
