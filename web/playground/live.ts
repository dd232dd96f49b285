/** Live mode: the microphone, its session, and the scores of the last seconds until the report replaces them. */
import { element } from '../elements.ts';
import type { Recording } from './analyze.ts';
import { card, wide } from './cards.ts';
import { createLiveEmotionCards } from './emotion-cards.ts';
import { type LiveMessage, type LiveOutcome, type Measurement, openSession } from './live-session.ts';
import { createLiveWaveform } from './live-waveform.ts';
import { startPcmRecorder } from './recorder.ts';
import { createRecorderPanel, type RecorderPanel } from './recorder-panel.ts';
import { type EmotionSignals, hasAffect, loadRules, type Rules } from './report.ts';
import { createScores, scoresOfSignals } from './scores.ts';
import { createHeadline, warningNotice } from './summary.ts';

type LiveOptions = {
  readonly token: string;
  /** Shows the scores. */
  readonly host: HTMLElement;
  /** Ends the session without a report. */
  readonly abort: AbortController;
  readonly announce: (sentence: string) => void;
  /** Called when the recording has ended, before the outcome is known. */
  readonly onStop: (recording: Recording | null) => void;
  readonly onOutcome: (outcome: LiveOutcome, recording: Recording) => void;
};

/** @throws MicrophoneError with a message for display */
export async function startLive(options: LiveOptions): Promise<RecorderPanel> {
  const { abort, announce, host, token } = options;
  const rules = await loadRules();
  const recorder = await startPcmRecorder({
    onBlock: (block) => {
      session.send(block);
      view.add(block);
    },
    onEnded: () => panel.stop(),
  });
  const view = createLiveView(host, rules);
  const announceTurns = createTurnAnnouncer(announce);
  const session = openSession({
    token,
    sampleRateHz: recorder.sampleRateHz,
    separatesVoices: rules.separatesVoices,
    signal: abort.signal,
    onMessage: (message) => {
      view.show(message);
      announceTurns(message);
      if (message.type === 'session.ready') panel.setTitle('Live');
      if (message.type === 'speech.started') panel.setSpeechDetected();
    },
  });
  const panel = createRecorderPanel(recorder, {
    title: 'Connecting',
    stopLabel: 'Stop',
    maxSeconds: Number.POSITIVE_INFINITY,
    finish: (blob) => void finish(blob),
  });
  void session.ended.then(panel.stop);
  return panel;

  async function finish(blob: Blob | null): Promise<void> {
    const recording = blob === null ? null : { name: 'live.wav', blob };
    if (recording === null) abort.abort();
    else session.end();
    options.onStop(recording);
    const outcome = await session.ended;
    view.destroy();
    if (recording !== null) options.onOutcome(outcome, recording);
  }
}

/** Announces the start, and each change of the emotion. */
function createTurnAnnouncer(announce: (sentence: string) => void): (message: LiveMessage) => void {
  let last = '';
  return (message) => {
    if (message.type === 'session.ready') announce('Live. Speak now.');
    if (message.type !== 'turn' || message.emotion === undefined) return;
    if (message.emotion.dominant_emotion === last) return;
    last = message.emotion.dominant_emotion;
    announce(`Sounds ${last}`);
  };
}

// The cards.

type LiveView = {
  /** @param block of 0.1 s */
  add(block: Int16Array): void;
  show(message: LiveMessage): void;
  destroy(): void;
};

const note =
  'Provisional: emotion of the last 10 seconds; load, clarity and processing so far, which need half a minute of speech. When you stop, the report of the whole replaces them.';

/** Fills `host`. */
function createLiveView(host: HTMLElement, rules: Rules): LiveView {
  const waveform = createLiveWaveform();
  const activity = element('span', { class: 'tag activity' }, 'No speech yet');
  const headline = createHeadline();
  const scores = createScores();
  const warned = element('div');
  const emotions = createLiveEmotionCards(rules);
  const summary = element('div', { class: 'summary' }, waiting());

  function showMeasurement(measurement: Measurement): void {
    const { cognitive, warnings } = measurement;
    const emotion = 'valence' in measurement.emotion ? (measurement.emotion as EmotionSignals) : null;
    if (emotion !== null) {
      headline.show(emotion, { warnings });
      emotions.show(emotion);
    }
    scores.show(scoresOfSignals(emotion, cognitive));
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
      if (message.emotion !== undefined && hasAffect(message.emotion)) emotions.addUtterance(message.emotion);
    }
  }

  host.replaceChildren(
    wide(card('Live', null, activity, waveform.root, summary, element('p', { class: 'card-note' }, note))),
    ...emotions.roots,
  );
  waveform.load();
  return { add: waveform.add, show, destroy: waveform.destroy };
}

function waiting(): HTMLElement {
  return element('p', { class: 'muted' }, 'Speak: the first scores follow after half a second of speech.');
}
