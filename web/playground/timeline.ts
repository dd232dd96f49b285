/** The utterances: a lane under the waveform, and on demand a block and a row of a table for each; the moments among them. */
import { scoreEnds } from '../../src/engine/signals/score-ends.ts';
import { button, element, fold, hidden, icon, percent } from '../elements.ts';
import { term } from './cards.ts';
import { affects, createLane, type Lane, type PlaySpan, rove } from './lane.ts';
import {
  type Emotion,
  type EmotionSignals,
  emotionSignals,
  isMomentOf,
  type Report,
  ranked,
} from './report.ts';
import { meanings, probabilityScale } from './scores.ts';
import { clock, score, share, tick } from './wording.ts';

type Utterance = Emotion['timeline'][number];

const forVoice =
  'The most probable emotion, compared with how this voice sounded before. It finds more emotions than the column before.';

/** A lane of the time axis, where there are utterances, and what the page has of them elsewhere. */
export type Timeline = {
  readonly lane: Lane | null;
  /** Names the colours of the columns. */
  readonly legend: HTMLElement | null;
  /** The scores of each utterance, on demand. */
  readonly details: HTMLElement | null;
  /** Marks the utterance at this time. */
  mark(seconds: number): void;
};

/** @param onPlay null when the page cannot play the recording */
export function createTimeline(report: Report, onPlay: PlaySpan | null): Timeline {
  const { timeline, moments } = report.emotion;
  const signals = emotionSignals(report);
  if (signals === null || timeline.length === 0)
    return { lane: null, legend: null, details: null, mark: () => {} };
  const lane = createLane(report.emotion, signals, report.audio.duration_s, onPlay);
  const isMoment = isMomentOf(moments);
  const blocks = timeline.map((utterance) =>
    createBlock(utterance, isMoment(utterance) ? 'moment' : null, onPlay),
  );
  return {
    lane,
    legend: createLegend(timeline, signals),
    details: fold(
      `Utterances (${timeline.length})`,
      element(
        'p',
        { class: 'muted small' },
        'Speech between pauses, with its ',
        term(probabilityScale, 'most probable emotion'),
        `.${onPlay === null ? '' : ' Press one to hear it.'}`,
      ),
      createList(blocks, onPlay !== null),
      createTable(timeline),
    ),
    mark: (now) => {
      lane.mark(now);
      for (const [index, { start_s, end_s }] of timeline.entries())
        blocks[index]?.classList.toggle('now', now >= start_s && now < end_s);
    },
  };
}

/** Names the colours of `affect`. */
export function createAffectLegend(): HTMLElement {
  const entries = affects.map((name) => {
    const [lowest, highest] = scoreEnds[name];
    return element('li', { class: name }, `${name}, ${lowest} to ${highest}`);
  });
  return element('ul', { class: 'legend', 'aria-label': 'Lines with their ranges' }, ...entries);
}

function createBlock(utterance: Utterance, note: string | null, onPlay: PlaySpan | null): HTMLElement {
  const block = onPlay === null ? element('li') : element('button', { type: 'button' });
  fillBlock(block, utterance, note);
  if (onPlay !== null) block.addEventListener('click', () => onPlay(utterance));
  return block;
}

/** @param playable whether the blocks are buttons */
function createList(blocks: readonly HTMLElement[], playable: boolean): HTMLElement {
  const attributes = { class: 'utterances', 'aria-label': 'Utterances' };
  if (!playable) return element('ul', { ...attributes, tabindex: '0' }, ...blocks);
  const list = element('div', { ...attributes, role: 'toolbar' }, ...blocks);
  rove(list, blocks);
  return list;
}

/** The colours that are visible in the columns. */
export function createLegend(timeline: readonly Utterance[], signals: EmotionSignals): HTMLElement {
  const seen = ranked(signals.emotions).filter(([name]) =>
    timeline.some(({ emotions }) => (emotions[name] ?? 0) >= minSeen),
  );
  const entries = seen.map(([name]) => element('li', { 'data-emotion': name }, name));
  return element('ul', { class: 'emotion-key', 'aria-label': 'Colours of the utterances' }, ...entries);
}

/** Of the height of a column: a pixel. */
const minSeen = 0.02;

/** Less probable emotions are left out of the text of a block. */
const minShare = 0.05;

/** @param note read last by screen readers */
export function fillBlock(
  block: HTMLElement,
  utterance: Omit<Utterance, 'intervals'>,
  note: string | null = null,
): void {
  const { start_s, end_s, dominant_emotion, emotions, confidence, valence, arousal, relative } = utterance;
  const others = ranked(emotions)
    .filter(([name, probability]) => name !== dominant_emotion && probability >= minShare)
    .map(([name, probability]) => `${name} ${share(probability)}`);
  const label = `${dominant_emotion} ${share(confidence)}`;
  const when = `${clock(start_s)} to ${clock(end_s)}`;
  const affect = Object.entries({ valence, arousal }).flatMap(([name, value]) =>
    value === null ? [] : `${name} ${score(value)}`,
  );
  const ofVoice = relative?.emotion == null ? '' : `for this voice ${relative.emotion}`;
  const said = [[label, ...others].join(', '), ofVoice, affect.join(', '), when].filter(Boolean).join('; ');
  block.className = 'utterance';
  block.dataset.emotion = dominant_emotion;
  block.style.setProperty('--share', percent(confidence));
  block.title = said;
  block.replaceChildren(
    element('span', { 'aria-hidden': 'true' }, label),
    element('span', { class: 'number small', 'aria-hidden': 'true' }, clock(start_s)),
    hidden(note === null ? said : `${said}; ${note}`),
  );
}

/** The same utterances with all scores. */
function createTable(timeline: readonly Utterance[]): HTMLElement {
  const labels = Object.keys(timeline[0]?.emotions ?? {});
  const isCompared = timeline.some(({ relative }) => relative?.emotion != null);
  const rows = timeline.map((utterance) => {
    const cells = [
      tick(utterance.start_s),
      tick(utterance.end_s),
      ...[utterance.valence, utterance.arousal].map((value) => (value === null ? '' : score(value))),
      utterance.dominant_emotion,
      ...(isCompared ? [utterance.relative?.emotion ?? ''] : []),
      ...labels.map((label) => share(utterance.emotions[label] ?? 0)),
    ];
    return element('tr', {}, ...cells.map((cell) => element('td', { class: 'number' }, cell)));
  });
  const titles = [
    'From',
    'To',
    term(meanings.valence.scale, meanings.valence.title),
    term(meanings.arousal.scale, meanings.arousal.title),
    term(probabilityScale, 'Emotion'),
    ...(isCompared ? [term(forVoice, 'For this voice')] : []),
    ...labels,
  ].map((title) => element('th', { scope: 'col', class: 'number' }, title));
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...titles)),
    element('tbody', {}, ...rows),
  );
  const region = {
    class: 'table-scroll',
    tabindex: '0',
    role: 'region',
    'aria-label': 'Values of each utterance',
  };
  return element('div', region, table);
}

// The moments of a recording: a line for each, which plays it where the page can.

type Moment = NonNullable<Emotion['moments']>[number];

export type MomentList = {
  /** Null where no utterances were compared. */
  readonly root: HTMLElement | null;
  /** Makes a button of each line. */
  enable(play: PlaySpan): void;
};

/** The others are on demand. */
const shownAtOnce = 3;
const momentScale =
  'Utterances that sound more emotional than the others of the same voice, in order of time.';

/**
 * @param moments in order of time; null where no utterances were compared
 * @param nameOf the voice of a moment, where there are several
 */
export function createMoments(
  moments: readonly Moment[] | null,
  nameOf: (index: number) => HTMLElement | null = () => null,
): MomentList {
  if (moments === null) return { root: null, enable: () => {} };
  const lines = moments.map((moment, index) => [nameOf(index), ...describe(moment)]);
  const items = lines.map((line) => element('li', { class: 'moment-line' }, ...line));
  const list = (part: readonly HTMLElement[]) => element('ol', { class: 'moments' }, ...part);
  const rest = items.slice(shownAtOnce);
  return {
    root: element(
      'section',
      { 'aria-label': 'Moments' },
      element(
        'p',
        { class: 'small muted' },
        term(momentScale, 'Moments'),
        items.length === 0 ? ': none' : null,
      ),
      items.length === 0 ? null : list(items.slice(0, shownAtOnce)),
      rest.length === 0 ? null : fold(`${rest.length} more`, list(rest)),
    ),
    enable: (play) => {
      for (const [index, item] of items.entries()) {
        const moment = moments[index] as Moment;
        const content = [icon('play'), hidden('Play'), ...(lines[index] ?? [])];
        item.replaceChildren(button('plain small moment-line', () => play(moment), ...content));
      }
    },
  };
}

/** Words for more and less of a measure. */
const changes: Readonly<Record<string, readonly [more: string, less: string]>> = {
  arousal: ['more excited', 'calmer'],
  valence: ['more positive', 'more negative'],
};
/** In spreads of the other utterances of the voice. */
const muchAbove = 5;

function describe({ start_s, emotion, probability, differences }: Moment) {
  const [first, ...others] = differences;
  const [most] = others.toSorted((one, other) => Math.abs(other.spreads) - Math.abs(one.spreads));
  const [more, less] = changes[most?.measure ?? ''] ?? [`more ${emotion}`, ''];
  const spreads = (most ?? first)?.spreads ?? 0;
  const much = Math.abs(spreads) >= muchAbove ? 'much ' : '';
  const why = [
    `${much}${spreads >= 0 ? more : less} than usual`,
    most && `${most.measure} ${score(most.value)}, usually ${score(most.typical)}`,
  ];
  return [
    element('span', { class: 'number' }, clock(start_s)),
    element('strong', {}, `${emotion} ${share(probability)}`),
    element('span', { class: 'muted' }, why.filter(Boolean).join(' · ')),
  ];
}
