/** A lane of the time axis: the moments, a column of emotions per utterance, and lines of valence and arousal. */
import { element, percent } from '../elements.ts';
import { affectOf, type Bin, createBins, meanOf } from './bins.ts';
import { type Emotion, type EmotionSignals, isMomentOf, ranked, type Span } from './report.ts';
import { clock, share } from './wording.ts';

type Utterance = Emotion['timeline'][number];
type Moment = NonNullable<Emotion['moments']>[number];
export type PlaySpan = (span: Span) => void;

export type Lane = {
  /** Marks with labels; null without moments. */
  readonly moments: HTMLElement | null;
  readonly columns: HTMLElement;
  /** Valence and arousal with their intervals, a track each; none where the models have neither. */
  readonly affect: readonly HTMLElement[];
  /** Draws the lane in so many pixels. @returns whether some utterances are drawn as one */
  draw(width: number): boolean;
  /** Marks the column at this time. */
  mark(seconds: number): void;
};

/** Utterances that are narrower together are one column, px. */
const minColumn = 8;

/**
 * @param duration of the time axis, s
 * @param onPlay null when the page cannot play the recording
 */
export function createLane(
  { timeline, moments }: Pick<Emotion, 'timeline' | 'moments'>,
  signals: EmotionSignals,
  duration: number,
  onPlay: PlaySpan | null,
): Lane {
  const axis = { start_s: 0, end_s: duration };
  const hasAffect = timeline.some(({ valence, arousal }) => valence !== null || arousal !== null);
  const columns = element('div', { class: 'utterance-track', 'aria-hidden': 'true' });
  const affect = hasAffect
    ? affects.map(() => element('div', { class: 'affect-track', 'aria-hidden': 'true' }))
    : [];
  const marks = createMarks(moments ?? [], axis, onPlay);
  for (const track of [columns, ...affect])
    if (onPlay !== null) playOnClick(track, timeline, duration, onPlay);
  let bins: readonly Bin[] = [];
  let now = -1;
  const markNow = () => {
    for (const [index, { start_s, end_s }] of bins.entries())
      columns.children[index]?.classList.toggle('now', now >= start_s && now < end_s);
  };
  return {
    moments: marks.root,
    columns,
    affect,
    draw: (width) => {
      bins = createBins(timeline, isMomentOf(moments), (minColumn * duration) / width);
      columns.replaceChildren(...bins.map((bin) => place(createColumn(bin, signals), bin, axis)));
      for (const [index, track] of affect.entries())
        track.replaceChildren(
          ...bins.map((bin) =>
            place(element('span', {}, ...lineOf(bin, affects[index] as Affects)), bin, axis),
          ),
        );
      marks.draw(width);
      markNow();
      return bins.some(({ utterances }) => utterances.length > 1);
    },
    mark: (seconds) => {
      now = seconds;
      markNow();
    },
  };
}

/** Plays the utterance that is nearest to the pointer. */
function playOnClick(
  track: HTMLElement,
  timeline: readonly Utterance[],
  duration: number,
  onPlay: PlaySpan,
): void {
  track.classList.add('playable');
  track.addEventListener('click', ({ clientX }) => {
    const { left, width } = track.getBoundingClientRect();
    const at = ((clientX - left) / width) * duration;
    const distance = ({ start_s, end_s }: Utterance) => Math.max(start_s - at, at - end_s);
    const [nearest] = timeline.toSorted((one, other) => distance(one) - distance(other));
    if (nearest !== undefined) onPlay(nearest);
  });
}

/** The probabilities on top of one another, in the order of those of the recording. */
function createColumn({ utterances, isMoment }: Bin, signals: EmotionSignals): HTMLElement {
  const parts = ranked(signals.emotions).map(([name]) => {
    const part = element('span', { 'data-emotion': name });
    part.style.height = percent(meanOf(utterances, ({ emotions }) => emotions[name] ?? 0));
    return part;
  });
  return element('span', { class: isMoment ? 'utterance-column moment' : 'utterance-column' }, ...parts);
}

export const affects = ['valence', 'arousal'] as const;

type Affects = (typeof affects)[number];

/** A line from 0 to 1, and its interval. The table of utterances has the values. */
function lineOf(bin: Bin, name: Affects): HTMLElement[] {
  const found = affectOf(bin, name);
  if (found === null) return [];
  const line = element('span', { class: `affect-line ${name}` });
  line.style.bottom = percent(found.value);
  if (found.interval === null) return [line];
  const [low, high] = found.interval;
  const band = element('span', { class: `affect-band ${name}` });
  band.style.bottom = percent(low);
  band.style.height = percent(high - low);
  return [band, line];
}

function place(made: HTMLElement, span: Span, axis: Span): HTMLElement {
  placeBlock(made, span, axis);
  return made;
}

/** @param shown the part of the recording that the width of the track is */
export function placeBlock({ style }: HTMLElement, { start_s, end_s }: Span, shown: Span): void {
  const duration = shown.end_s - shown.start_s;
  style.left = percent((start_s - shown.start_s) / duration);
  style.width = percent((end_s - start_s) / duration);
}

/** A mark at the start of each moment; `draw` leaves out the labels that would cover others. */
function createMarks(moments: readonly Moment[], axis: Span, onPlay: PlaySpan | null) {
  const sorted = moments.toSorted((one, other) => one.start_s - other.start_s);
  const marks = sorted.map((moment) => {
    const { emotion, probability, start_s } = moment;
    const text = `${emotion} ${clock(start_s)}`;
    const title = `${text}, ${share(probability)} probable`;
    const attributes = { class: 'moment-mark', title, 'aria-label': title };
    const label = element('span', { class: 'moment-label' }, text);
    const mark =
      onPlay === null
        ? element('span', { ...attributes, role: 'img' }, label)
        : element('button', { ...attributes, type: 'button' }, label);
    if (onPlay !== null) mark.addEventListener('click', () => onPlay(moment));
    mark.style.left = percent(start_s / axis.end_s);
    return mark;
  });
  if (marks.length === 0) return { root: null, draw: () => {} };
  const role = onPlay === null ? 'group' : 'toolbar';
  const root = element('div', { class: 'moment-track', role, 'aria-label': 'Moments in time' }, ...marks);
  if (onPlay !== null) rove(root, marks);
  const draw = (width: number) => {
    for (const mark of marks) mark.classList.remove('bare', 'before');
    const sizes = marks.map((mark) => mark.offsetWidth);
    let end = 0;
    for (const [index, mark] of marks.entries()) {
      const leftOf = (at: number) => ((sorted[at]?.start_s ?? axis.end_s) / axis.end_s) * width;
      const [left, size] = [leftOf(index), sizes[index] ?? 0];
      const fits = left + size <= leftOf(index + 1);
      const fitsBefore = !fits && left - size >= end;
      mark.classList.toggle('before', fitsBefore);
      mark.classList.toggle('bare', !fits && !fitsBefore);
      end = fits ? left + size : left;
    }
  };
  return { root, draw };
}

/** One stop of the Tab key for all blocks; arrow keys, Home and End move between them. */
export function rove(list: HTMLElement, blocks: readonly HTMLElement[]): void {
  const setStop = (stop: EventTarget | null) => {
    for (const block of blocks) block.tabIndex = block === stop ? 0 : -1;
  };
  setStop(blocks[0] ?? null);
  list.addEventListener('focusin', ({ target }) => setStop(target));
  list.addEventListener('keydown', (event) => {
    const at = blocks.indexOf(event.target as HTMLElement);
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 };
    const to = { ...next, Home: 0, End: blocks.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    blocks[to]?.focus();
  });
}
