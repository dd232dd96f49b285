/** The moments of a recording: a line for each, which plays it where the page can. */
import { button, element, fold, icon } from '../elements.ts';
import { term } from './explained.ts';
import { clock, fixed, score, share } from './format.ts';
import type { Emotion } from './report.ts';

type Moment = Emotion['moments'][number];
export type PlaySpan = (span: { readonly start_s: number; readonly end_s: number }) => void;

export type MomentList = {
  /** Null without moments. */
  readonly root: HTMLElement | null;
  /** Makes a button of each line. */
  enable(play: PlaySpan): void;
};

/** The others are on demand. */
const shownAtOnce = 3;
const scale =
  'Utterances that sound more emotional than the others of the same voice, the most unusual first. A spread is how much the others usually differ.';

/** @param nameOf the voice of a moment, where there are several */
export function createMoments(
  moments: readonly Moment[],
  nameOf: (index: number) => HTMLElement | null = () => null,
): MomentList {
  if (moments.length === 0) return { root: null, enable: () => {} };
  const lines = moments.map((moment, index) => [nameOf(index), ...describe(moment)]);
  const items = lines.map((line) => element('li', { class: 'moment-line' }, ...line));
  const list = (part: readonly HTMLElement[]) => element('ol', { class: 'moments' }, ...part);
  const rest = items.slice(shownAtOnce);
  return {
    root: element(
      'section',
      { 'aria-label': 'Moments' },
      element('p', { class: 'small muted' }, term(scale, 'Moments')),
      list(items.slice(0, shownAtOnce)),
      rest.length === 0 ? null : fold(`${rest.length} more`, list(rest)),
    ),
    enable: (play) => {
      for (const [index, item] of items.entries()) {
        const moment = moments[index] as Moment;
        const hidden = element('span', { class: 'visually-hidden' }, 'Play');
        const content = [icon('play'), hidden, ...(lines[index] ?? [])];
        item.replaceChildren(button('plain small moment-line', () => play(moment), ...content));
      }
    },
  };
}

function describe({ start_s, emotion, probability, differences }: Moment) {
  const [first, ...others] = differences;
  const [most] = others.toSorted((one, other) => Math.abs(other.spreads) - Math.abs(one.spreads));
  const why = [
    `${fixed(first?.spreads ?? 0, 1)} spreads`,
    most && `${most.measure} ${score(most.value)}, usually ${score(most.typical)}`,
  ];
  return [
    element('span', { class: 'number' }, clock(start_s)),
    element('strong', {}, `${emotion} ${share(probability)}`),
    element('span', { class: 'muted' }, why.filter(Boolean).join(' · ')),
  ];
}
