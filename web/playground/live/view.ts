/** Live mode as cards: the scores of the last seconds, until the report replaces them. */
import { element } from '../../dom.ts';
import { createAffectPlane } from '../affect-plane.ts';
import { card, wide } from '../card.ts';
import { clarityGauge, indexGauge, isUncertain } from '../cognitive-view.ts';
import { createEmotionBars } from '../emotion-bars.ts';
import { affectCard, affectGauges, emotionsCard } from '../emotion-cards.ts';
import type { EmotionSignals } from '../report.ts';
import type { Rules } from '../rules.ts';
import { headline, warningNotices } from '../summary.ts';
import type { LiveMessage, Measurement, Turn } from './session.ts';
import { createLiveWaveform } from './waveform.ts';

export type LiveView = {
  /** @param block of 0.1 s */
  add(block: Int16Array): void;
  show(message: LiveMessage): void;
  destroy(): void;
};

const note =
  'Provisional: scores of the last 12 seconds at most. When you stop, the report of the whole replaces them.';

const indicesNote =
  'Of the last seconds. The report computes them from everything; load needs half a minute of speech.';

/** Fills `host`. */
export function createLiveView(host: HTMLElement, { tone }: Rules): LiveView {
  const waveform = createLiveWaveform();
  const activity = element('span', { class: 'tag activity' }, 'No speech yet');
  const plane = createAffectPlane(tone);
  const summary = element('div', { class: 'headline' }, waiting());
  const [gauges, bars, indices] = [panel(), panel(), panel()];
  const emotions = [affectCard(plane.root, gauges), emotionsCard(bars)] as const;
  const effort = card('Effort and fluency', indicesNote, indices);
  const details = [emotions[0], element('div', { class: 'stack' }, emotions[1], effort)];
  const turns: NonNullable<Turn['emotion']>[] = [];
  let latest: EmotionSignals | null = null;

  function showPoint(): void {
    if (latest !== null) plane.show('the last seconds', latest, turns);
  }

  function showEmotion(emotion: EmotionSignals): void {
    latest = emotion;
    gauges.replaceChildren(...affectGauges(emotion));
    bars.replaceChildren(createEmotionBars(emotion));
    for (const one of emotions) one.hidden = false;
    showPoint();
  }

  function showMeasurement(measurement: Measurement): void {
    const { cognitive, warnings } = measurement;
    const emotion = 'valence' in measurement.emotion ? (measurement.emotion as EmotionSignals) : null;
    const title = emotion === null ? [] : headline(emotion, warnings);
    summary.replaceChildren(...title, ...warningNotices(warnings));
    if (emotion !== null) showEmotion(emotion);
    effort.hidden = false;
    indices.replaceChildren(
      indexGauge('cognitive_load', cognitive, isUncertain(cognitive)),
      clarityGauge(cognitive),
    );
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
      if (message.emotion !== undefined) turns.push(message.emotion);
      showPoint();
    }
  }

  for (const one of [...emotions, effort]) one.hidden = true;
  host.replaceChildren(wide(card('Live', note, activity, waveform.root, summary)), ...details);
  waveform.load();
  return { add: waveform.add, show, destroy: waveform.destroy };
}

function panel(): HTMLElement {
  return element('div', { class: 'stack' });
}

function waiting(): HTMLElement {
  return element('p', { class: 'muted' }, 'Speak: the first scores follow after half a second of speech.');
}
