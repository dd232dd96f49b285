/** The time axis of the waveform and the lanes: the whole recording, or a part of it that scrolls. */
import { button, type Child, element } from '../elements.ts';
import type { Lane } from './lane.ts';
import type { Waveform } from './waveform.ts';
import { clock } from './wording.ts';

export type TimeAxis = {
  readonly root: HTMLElement;
  /** Call it once `root` is in the page. */
  draw(): void;
  destroy(): void;
};

/** Lengths of a part, s. */
const parts = [
  ['10 min', 600],
  ['1 min', 60],
] as const;
/** A part is offered for recordings that are longer by this factor. */
const minFactor = 1.5;
const joined =
  'Each bar is several utterances: their average, and the widest of their ranges. Choose a shorter part to see every utterance.';

/**
 * @param duration s
 * @param lanes drawn whenever the axis changes
 * @param content the lanes, and their names
 * @param waveform scrolls with the lanes; null without one
 */
export function createTimeAxis(
  duration: number,
  lanes: readonly Pick<Lane, 'draw'>[],
  content: readonly HTMLElement[],
  waveform: Waveform | null,
): TimeAxis {
  const inside = element('div', { class: 'axis-content' }, ...content);
  const attributes = { class: 'axis', role: 'group', 'aria-label': 'Utterances in time' };
  const scroller = element('div', attributes, inside);
  const note = element('p', { class: 'small muted' }, joined);
  const controls = createControls(duration, {
    onPart: (seconds) => zoom(seconds),
    onTurn: (direction) => scrollTo(left + direction * scroller.clientWidth),
  });
  /** Seconds that the width of the page shows. */
  let shown = duration;
  /** Where the waveform and the lanes are scrolled to, px. */
  let left = 0;
  let width = 0;
  let now = 0;
  const timeAt = (px: number) => (px / Math.max(1, width)) * shown;
  const describe = () => controls.show(shown, timeAt(left));
  const scrollTo = (px: number) => {
    scroller.scrollLeft = px;
    left = scroller.scrollLeft;
    waveform?.scrollTo(left);
    describe();
  };
  /** @param start s */
  const drawFrom = (start: number) => {
    width = scroller.clientWidth;
    const factor = duration / shown;
    inside.style.width = `${100 * factor}%`;
    if (factor > 1) scroller.tabIndex = 0;
    else scroller.removeAttribute('tabindex');
    note.hidden = !lanes.map((lane) => lane.draw(width * factor)).includes(true);
    waveform?.show(shown, width);
    scrollTo((start / shown) * width);
  };
  const zoom = (seconds: number) => {
    const start = timeAt(left);
    const isInside = now >= start && now <= start + shown;
    const centre = isInside ? now : start + shown / 2;
    shown = seconds;
    drawFrom(centre - shown / 2);
  };
  // The waveform scrolls too, while it plays and by touch. Each scrolls the other, once.
  const isNews = (px: number) => Math.abs(px - left) >= 1;
  scroller.addEventListener('scroll', () => {
    if (isNews(scroller.scrollLeft)) scrollTo(scroller.scrollLeft);
  });
  waveform?.onScroll((px) => {
    if (isNews(px)) scrollTo(px);
  });
  waveform?.onTime((seconds) => {
    now = seconds;
  });
  const resizes = new ResizeObserver(() => {
    if (scroller.clientWidth !== width) drawFrom(timeAt(left));
  });
  return {
    root: element('div', { class: 'stack' }, controls.root, scroller, note),
    draw: () => {
      drawFrom(0);
      resizes.observe(scroller);
    },
    destroy: () => resizes.disconnect(),
  };
}

/** From the top down. */
export function tracksOf({ moments, columns, affect }: Lane): HTMLElement[] {
  return [...(moments === null ? [] : [moments]), columns, ...affect];
}

let namedLanes = 0;

/** @param lane null without scores */
export function createNamedLane(lane: Lane | null, label: Child): HTMLElement {
  const id = `lane-${++namedLanes}`;
  const name = element('span', { id, class: 'lane-name small muted' }, label);
  return element(
    'div',
    { class: 'lane', role: 'group', 'aria-labelledby': id },
    name,
    ...(lane === null ? [] : tracksOf(lane)),
  );
}

type Controls = {
  /** Null where the recording has no parts. */
  readonly root: HTMLElement | null;
  /** @param start of the part, s */
  show(shown: number, start: number): void;
};

function createControls(
  duration: number,
  { onPart, onTurn }: { onPart: (seconds: number) => void; onTurn: (direction: 1 | -1) => void },
): Controls {
  const offered = parts.filter(([, seconds]) => duration >= minFactor * seconds);
  if (offered.length === 0) return { root: null, show: () => {} };
  const all = [['Whole recording', duration] as const, ...offered];
  const buttons = all.map(([label, seconds]) => button('small', () => onPart(seconds), label));
  const position = element('span', { class: 'number small muted' });
  const turns = element(
    'div',
    { class: 'row' },
    button('small', () => onTurn(-1), 'Earlier'),
    button('small', () => onTurn(1), 'Later'),
    position,
  );
  const group = element('div', { class: 'row', role: 'group', 'aria-label': 'Part in view' }, ...buttons);
  return {
    root: element('div', { class: 'row axis-controls' }, group, turns),
    show: (shown, start) => {
      for (const [index, [, seconds]] of all.entries())
        (buttons[index] as HTMLElement).ariaPressed = String(seconds === shown);
      turns.hidden = shown === duration;
      position.textContent = `${clock(start)} to ${clock(Math.min(duration, start + shown))}`;
    },
  };
}
