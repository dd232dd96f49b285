/** The utterances under the waveform; a click plays from the start of one. */
import { element, percent } from '../dom.ts';
import { clock, score, seconds, share } from './format.ts';
import type { Emotion, Report } from './report.ts';

type Timeline = {
  readonly root: HTMLElement;
  /** Marks the utterance at this time. */
  mark(seconds: number): void;
};

export function createTimeline({ emotion, audio }: Report, onSeek: (seconds: number) => void): Timeline {
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
export function createUtteranceTable({ emotion, cognitive }: Report): HTMLElement {
  const head = ['From', 'To', 'Valence', 'Arousal', 'Emotion', 'Probability', 'Clarity'];
  const rows = emotion.timeline.map((utterance) => {
    const clarity = cognitive.timeline.find(({ start_s }) => start_s === utterance.start_s)?.clarity;
    const cells = [
      seconds(utterance.start_s),
      seconds(utterance.end_s),
      score(utterance.valence),
      score(utterance.arousal),
      utterance.dominant_emotion,
      share(utterance.confidence),
      clarity === undefined ? '–' : score(clarity),
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
