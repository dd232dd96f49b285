/** The cards of valence, arousal and emotions: of a recording, and of the last seconds of a live session. */
import { element, percent } from '../elements.ts';
import { createAffectPlane } from './affect-plane.ts';
import { card, term } from './cards.ts';
import {
  type Affect,
  type Emotion,
  type EmotionSignals,
  hasAffect,
  type Report,
  type Rules,
  ranked,
} from './report.ts';
import { meanings, probabilityScale } from './scores.ts';
import { share, signed } from './wording.ts';

/** Without valence and arousal, the probabilities alone. */
export function createEmotionCards(report: Report, signals: EmotionSignals, { tone }: Rules): HTMLElement {
  const { emotion } = report;
  const bars = createEmotionBars();
  bars.show(signals);
  const root = element('div', { class: 'affect' }, emotionsCard(bars.root));
  if (!hasAffect(signals)) return root;
  const plane = createAffectPlane(tone);
  plane.show('the whole recording', signals, emotion.timeline.filter(hasAffect));
  root.prepend(affectCard(plane.root, changeNote(emotion)));
  return root;
}

type LiveEmotionCards = {
  /** Hidden until there is something to show. */
  readonly roots: readonly HTMLElement[];
  /** Of the last seconds. */
  show(signals: EmotionSignals): void;
  addUtterance(affect: Affect): void;
};

export function createLiveEmotionCards({ tone }: Rules): LiveEmotionCards {
  const plane = createAffectPlane(tone);
  const bars = createEmotionBars();
  const affect = affectCard(plane.root);
  const emotions = emotionsCard(bars.root);
  const utterances: Affect[] = [];
  let latest: (EmotionSignals & Affect) | null = null;
  const showPoint = () => {
    if (latest !== null) plane.show('the last seconds', latest, utterances);
  };
  affect.hidden = true;
  emotions.hidden = true;
  return {
    roots: [affect, emotions],
    show: (signals) => {
      latest = hasAffect(signals) ? signals : null;
      bars.show(signals);
      emotions.hidden = false;
      affect.hidden = latest === null;
      showPoint();
    },
    addUtterance: (utterance) => {
      utterances.push(utterance);
      showPoint();
    },
  };
}

const affectScale = `${meanings.valence.scale} ${meanings.arousal.scale}`;

/** @param note how both differ from a baseline, if there is one */
function affectCard(plane: HTMLElement, note: HTMLElement | null = null): HTMLElement {
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

function emotionsCard(bars: HTMLElement): HTMLElement {
  return card(term(probabilityScale, 'Emotions'), 'How probable each is, learned mostly from actors.', bars);
}

type EmotionBars = { readonly root: HTMLElement; show(signals: EmotionSignals): void };

/** The probability of each emotion, most probable first. */
function createEmotionBars(): EmotionBars {
  const root = element('ol', { class: 'bars' });
  return {
    root,
    show: ({ emotions }) => {
      root.replaceChildren(...ranked(emotions).map(([name, value]) => createBar(name, value)));
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
