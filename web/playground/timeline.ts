/** The windows of the analysis under the waveform; a click plays from the window's start. */
import { element, percent } from '../dom.ts';
import { clock, score, seconds, share } from './format.ts';
import type { Report } from './report.ts';

type Timeline = {
  readonly root: HTMLElement;
  /** Marks the window at this time. */
  mark(seconds: number): void;
};

export function createTimeline({ emotion, audio }: Report, onSeek: (seconds: number) => void): Timeline {
  const windows = emotion.timeline.map((window) => {
    const { start_s, end_s, dominant_emotion, confidence, valence, arousal } = window;
    const when = `${clock(start_s)} to ${clock(end_s)}`;
    const made = element(
      'button',
      {
        type: 'button',
        class: 'window',
        title: `${when}, valence ${score(valence)}, arousal ${score(arousal)}`,
      },
      element('span', {}, dominant_emotion),
      element('span', { class: 'number small' }, share(confidence)),
      element('span', { class: 'visually-hidden' }, `${when}, go there`),
    );
    made.style.left = percent(start_s / audio.duration_s);
    made.style.width = percent((end_s - start_s) / audio.duration_s);
    made.addEventListener('click', () => onSeek(start_s));
    return made;
  });
  const track = element('div', { class: 'windows' }, ...windows);
  return {
    root: element('div', { role: 'group', 'aria-label': 'Windows of the analysis' }, track),
    mark: (now) => {
      for (const [index, { start_s, end_s }] of emotion.timeline.entries()) {
        windows[index]?.classList.toggle('now', now >= start_s && now < end_s);
      }
    },
  };
}

/** The same windows as a table with all fields. */
export function createWindowTable({ emotion, cognitive }: Report): HTMLElement {
  const head = ['From', 'To', 'Valence', 'Arousal', 'Emotion', 'Probability', 'Clarity'];
  const rows = emotion.timeline.map((window) => {
    const clarity = cognitive.timeline.find(({ start_s }) => start_s === window.start_s)?.clarity;
    const cells = [
      seconds(window.start_s),
      seconds(window.end_s),
      score(window.valence),
      score(window.arousal),
      window.dominant_emotion,
      share(window.confidence),
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
    'aria-label': 'Values of each window',
  };
  return element(
    'details',
    {},
    element('summary', {}, 'Values of each window'),
    element('div', region, table),
  );
}
