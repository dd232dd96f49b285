/** Live mode as cards: the scores of the last seconds, until the report replaces them. */
import { element } from '../../elements.ts';
import { createAffectPlane } from '../affect-plane.ts';
import { card, wide } from '../card.ts';
import { affectCard, createEmotionBars, emotionsCard } from '../emotion-cards.ts';
import { type Affect, type EmotionSignals, hasAffect } from '../report.ts';
import type { Rules } from '../rules.ts';
import { createScores, scoresOf } from '../scores.ts';
import { createHeadline, warningNotice } from '../summary.ts';
import type { LiveMessage, Measurement, Turn } from './session.ts';
import { createLiveWaveform } from './waveform.ts';

export type LiveView = {
  /** @param block of 0.1 s */
  add(block: Int16Array): void;
  show(message: LiveMessage): void;
  destroy(): void;
};

const note =
  'Provisional: emotion of the last 10 seconds; load, clarity and processing so far, which need half a minute of speech. When you stop, the report of the whole replaces them.';

/** Fills `host`. */
export function createLiveView(host: HTMLElement, { tone }: Rules): LiveView {
  const waveform = createLiveWaveform();
  const activity = element('span', { class: 'tag activity' }, 'No speech yet');
  const plane = createAffectPlane(tone);
  const headline = createHeadline();
  const scores = createScores();
  const warned = element('div');
  const bars = createEmotionBars();
  const summary = element('div', { class: 'summary' }, waiting());
  const emotions = [affectCard(plane.root), emotionsCard(bars.root)] as const;
  const turns: (NonNullable<Turn['emotion']> & Affect)[] = [];
  let latest: (EmotionSignals & Affect) | null = null;

  function showPoint(): void {
    if (latest !== null) plane.show('the last seconds', latest, turns);
  }

  function showEmotion(emotion: EmotionSignals, { warnings }: Measurement): void {
    latest = hasAffect(emotion) ? emotion : null;
    headline.show(emotion, { warnings });
    bars.show(emotion);
    for (const one of emotions) one.hidden = false;
    emotions[0].hidden = latest === null;
    showPoint();
  }

  function showMeasurement(measurement: Measurement): void {
    const { cognitive, warnings } = measurement;
    const emotion = 'valence' in measurement.emotion ? (measurement.emotion as EmotionSignals) : null;
    if (emotion !== null) showEmotion(emotion, measurement);
    scores.show(scoresOf(emotion, cognitive, null));
    warned.replaceChildren(...[warningNotice(warnings)].filter((one) => one !== null));
    // Added once: a button keeps the focus.
    if (scores.root.isConnected) return;
    summary.replaceChildren(...(emotion === null ? [] : [headline.root]), scores.root, warned);
  }

  function setSpeaking(speaking: boolean): void {
    activity.textContent = speaking ? 'Speech' : 'Pause';
    activity.classList.toggle('on', speaking);
  }

  function show(message: LiveMessage): void {
    if (message.type === 'speech.started') {
      setSpeaking(true);
      waveform.startSpeech(message.at_s);
    } else if (message.type === 'speech.ended') {
      setSpeaking(false);
      waveform.endSpeech();
    } else if (message.type === 'measurement') {
      showMeasurement(message);
    } else if (message.type === 'turn') {
      waveform.addTurn(message);
      if (message.emotion !== undefined && hasAffect(message.emotion)) turns.push(message.emotion);
      showPoint();
    }
  }

  for (const one of emotions) one.hidden = true;
  host.replaceChildren(
    wide(card('Live', null, activity, waveform.root, summary, element('p', { class: 'card-note' }, note))),
    ...emotions,
  );
  waveform.load();
  return { add: waveform.add, show, destroy: waveform.destroy };
}

function waiting(): HTMLElement {
  return element('p', { class: 'muted' }, 'Speak: the first scores follow after half a second of speech.');
}
