/** The utterances under the waveform; a click plays from the start of one. */
import { element, percent } from '../dom.ts';
import { clock, score, share, tick } from './format.ts';
import { maxUtterances, partsOf, speechByEmotion } from './parts.ts';
import type { Emotion, Report } from './report.ts';

type Timeline = {
  readonly root: HTMLElement;
  /** Marks the utterance at this time. */
  mark(seconds: number): void;
};

export function createTimeline(report: Report, onSeek: (seconds: number) => void): Timeline {
  const { emotion, audio } = report;
  if (emotion.timeline.length > maxUtterances) return createStrip(report, onSeek);
  const blocks = emotion.timeline.map((utterance) => {
    const made = element('button', { type: 'button' });
    fillBlock(made, utterance, 'go there');
    placeBlock(made, utterance, { start_s: 0, end_s: audio.duration_s });
    made.addEventListener('click', () => onSeek(utterance.start_s));
    return made;
  });
  const track = element('div', { class: 'utterances' }, ...blocks);
  return {
    root: element('div', { role: 'group', 'aria-label': 'Utterances' }, track),
    mark: (now) => {
      for (const [index, { start_s, end_s }] of emotion.timeline.entries()) {
        blocks[index]?.classList.toggle('now', now >= start_s && now < end_s);
      }
    },
  };
}

/** Equal parts of a long recording in the colour of their most frequent emotion, and the share of each emotion. */
function createStrip({ emotion, audio }: Report, onSeek: (seconds: number) => void): Timeline {
  const parts = partsOf(emotion.timeline, audio.duration_s);
  const blocks = parts.map((part) => {
    const when = `${clock(part.start_s)} to ${clock(part.end_s)}`;
    const what = part.emotion === null ? 'no speech' : `${part.emotion.name} ${share(part.emotion.share)}`;
    const made = element('button', { type: 'button', class: 'utterance part', title: `${when}: ${what}` });
    if (part.emotion !== null) made.dataset.emotion = part.emotion.name;
    made.append(element('span', { class: 'visually-hidden' }, `${when}: ${what}, go there`));
    placeBlock(made, part, { start_s: 0, end_s: audio.duration_s });
    made.addEventListener('click', () => onSeek(part.start_s));
    return made;
  });
  const sums = speechByEmotion(emotion.timeline, 0, audio.duration_s);
  const total = sums.reduce((sum, [, spoken]) => sum + spoken, 0);
  const entries = sums.map(([name, spoken]) =>
    element('li', { 'data-emotion': name }, `${name} ${share(spoken / total)}`),
  );
  const key = element('ul', { class: 'emotion-key', 'aria-label': 'Share of the speech' }, ...entries);
  const strip = element('div', { class: 'utterances' }, ...blocks);
  return {
    root: element('div', { class: 'stack', role: 'group', 'aria-label': 'Utterances' }, strip, key),
    mark: (now) => {
      for (const [index, { start_s, end_s }] of parts.entries()) {
        blocks[index]?.classList.toggle('now', now >= start_s && now < end_s);
      }
    },
  };
}

type Span = { readonly start_s: number; readonly end_s: number };
type Utterance = Span &
  Pick<Emotion['timeline'][number], 'dominant_emotion' | 'confidence' | 'valence' | 'arousal'>;

/** @param hint read by screen readers after the times */
export function fillBlock(block: HTMLElement, utterance: Utterance, hint: string): void {
  const { start_s, end_s, dominant_emotion, confidence, valence, arousal } = utterance;
  const when = `${clock(start_s)} to ${clock(end_s)}`;
  block.className = 'utterance';
  block.dataset.emotion = dominant_emotion;
  block.title = `${when}, valence ${score(valence)}, arousal ${score(arousal)}`;
  block.replaceChildren(
    element('span', {}, dominant_emotion),
    element('span', { class: 'number small' }, share(confidence)),
    element('span', { class: 'visually-hidden' }, `${when}, ${hint}`),
  );
}

/** @param shown the part of the recording that the width of the track is */
export function placeBlock({ style }: HTMLElement, { start_s, end_s }: Span, shown: Span): void {
  const duration = shown.end_s - shown.start_s;
  style.left = percent((start_s - shown.start_s) / duration);
  style.width = percent((end_s - start_s) / duration);
}

/** The same utterances as a table with all fields. */
export function createUtteranceTable({ emotion }: Report): HTMLElement {
  const head = ['From', 'To', 'Valence', 'Arousal', 'Emotion', 'Probability'];
  const rows = emotion.timeline.map((utterance) => {
    const cells = [
      tick(utterance.start_s),
      tick(utterance.end_s),
      score(utterance.valence),
      score(utterance.arousal),
      utterance.dominant_emotion,
      share(utterance.confidence),
    ];
    return element('tr', {}, ...cells.map((cell) => element('td', { class: 'number' }, cell)));
  });
  const titles = element(
    'tr',
    {},
    ...head.map((text) => element('th', { scope: 'col', class: 'number' }, text)),
  );
  const table = element('table', {}, element('thead', {}, titles), element('tbody', {}, ...rows));
  const region = {
    class: 'table-scroll',
    tabindex: '0',
    role: 'region',
    'aria-label': 'Values of each utterance',
  };
  return element(
    'details',
    {},
    element('summary', {}, 'Values of each utterance'),
    element('div', region, table),
  );
}
