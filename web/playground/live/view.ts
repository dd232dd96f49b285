/** Live mode as cards: the scores of the last seconds, until the report replaces them. */
import { element } from '../../dom.ts';
import { createAffectPlane } from '../affect-plane.ts';
import { card, wide } from '../card.ts';
import { clarityGauge, indexGauge, isUncertain } from '../cognitive-view.ts';
import { createEmotionBars } from '../emotion-bars.ts';
import { affectCard, affectGauges, emotionsCard } from '../emotion-cards.ts';
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
  const details = [
    affectCard(plane.root, gauges),
    element('div', { class: 'stack' }, emotionsCard(bars), card('Effort and fluency', indicesNote, indices)),
  ];
  const hideDetails = (hidden: boolean) => {
    for (const one of details) one.hidden = hidden;
  };
  const turns: Turn['emotion'][] = [];
  let latest: Measurement | null = null;

  function showPoint(): void {
    if (latest !== null) plane.show('the last seconds', latest.emotion, turns);
  }

  function showMeasurement(measurement: Measurement): void {
    const { emotion, cognitive, warnings } = measurement;
    latest = measurement;
    hideDetails(false);
    summary.replaceChildren(...headline(emotion, warnings), ...warningNotices(warnings));
    gauges.replaceChildren(...affectGauges(emotion));
    bars.replaceChildren(createEmotionBars(emotion));
    indices.replaceChildren(
      indexGauge('cognitive_load', cognitive, isUncertain(cognitive)),
      clarityGauge(cognitive),
    );
    showPoint();
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
      turns.push(message.emotion);
      showPoint();
    }
  }

  hideDetails(true);
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
