/** Live mode: the microphone, its session, and the view of both. */
import { createRecorderPanel, type RecorderPanel } from '../recorder-panel.ts';
import type { Recording } from '../recording.ts';
import { loadRules } from '../rules.ts';
import { startPcmRecorder } from './pcm-recorder.ts';
import { type LiveMessage, type LiveOutcome, openSession } from './session.ts';
import { createLiveView } from './view.ts';

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
