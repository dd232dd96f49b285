/** Valence, arousal and emotions: of the recording and over time. */
import { element, percent } from '../elements.ts';
import { createAffectPlane } from './affect-plane.ts';
import { card } from './card.ts';
import { term } from './explained.ts';
import { share, signed } from './format.ts';
import { type Affect, type Emotion, type EmotionSignals, hasAffect, type Report } from './report.ts';
import type { Rules } from './rules.ts';
import { meanings } from './scores.ts';
import { probabilityScale } from './summary.ts';

/** @param chart of valence and arousal over time */
export function emotionCards(
  { emotion }: Report,
  signals: EmotionSignals,
  chart: HTMLElement,
  { tone }: Rules,
): HTMLElement {
  const bars = createEmotionBars();
  bars.show(signals);
  const affect = hasAffect(signals) ? affectCards(emotion, signals, chart, tone) : [];
  return element('div', { class: 'affect' }, ...affect, emotionsCard(bars.root));
}

function affectCards(
  emotion: Emotion,
  signals: EmotionSignals & Affect,
  chart: HTMLElement,
  tone: Rules['tone'],
): HTMLElement[] {
  const plane = createAffectPlane(tone);
  plane.show('the whole recording', signals, emotion.timeline.filter(hasAffect));
  return [
    affectCard(plane.root, changeNote(emotion)),
    card(
      term(affectScale, 'Over time'),
      'Each utterance on its own: speech between pauses, at most ten seconds.',
      chart,
    ),
  ];
}

const affectScale = `${meanings.valence.scale} ${meanings.arousal.scale}`;

/** @param note how both differ from a baseline, if there is one */
export function affectCard(plane: HTMLElement, note: HTMLElement | null = null): HTMLElement {
  return card(
    term(affectScale, 'Valence and arousal'),
    'How positive and how excited the voice sounds to listeners.',
    plane,
    note,
  );
}

function changeNote({ relative }: Emotion): HTMLElement | null {
  if (relative === null) return null;
  const changes = (['valence', 'arousal'] as const).map((name) => {
    const { change, interval } = relative[name];
    return `${name} ${signed(change)} (${interval.map(signed).join(' to ')})`;
  });
  return element('p', { class: 'small' }, `Against the baseline: ${changes.join(', ')}.`);
}

export function emotionsCard(bars: HTMLElement): HTMLElement {
  return card(term(probabilityScale, 'Emotions'), 'How probable each is, learned mostly from actors.', bars);
}

type EmotionBars = { readonly root: HTMLElement; show(signals: EmotionSignals): void };

/** The probability of each emotion, most probable first. */
export function createEmotionBars(): EmotionBars {
  const root = element('ol', { class: 'bars' });
  return {
    root,
    show: ({ emotions }) => {
      const sorted = Object.entries(emotions).sort(([, a], [, b]) => b - a);
      root.replaceChildren(...sorted.map(([name, value]) => createBar(name, value)));
    },
  };
}

function createBar(name: string, value: number): HTMLElement {
  const fill = element('span', { class: 'bar-fill' });
  fill.style.width = percent(value);
  return element(
    'li',
    { class: 'bar', 'data-emotion': name },
    element('span', {}, name),
    element('span', { class: 'bar-track', 'aria-hidden': 'true' }, fill),
    element('span', { class: 'number' }, share(value)),
  );
}
