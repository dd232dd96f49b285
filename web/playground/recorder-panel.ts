/** Panel of a running microphone recording: time, level, stop and discard. */
import { button, element, icon } from '../elements.ts';

import { clock } from './format.ts';
import { createLevelMeter } from './level-meter.ts';
import type { Recorder } from './microphone.ts';

type RecorderPanelOptions = {
  readonly title: string;
  readonly stopLabel: string;
  /** Stops the recording. */
  readonly maxSeconds: number;
  /** Receives the recording, or null after a discard. */
  readonly finish: (blob: Blob | null) => void;
};

export type RecorderPanel = {
  readonly root: HTMLElement;
  setTitle(title: string): void;
  /** Speech has been detected. */
  setSpeechDetected(): void;
  stop(): void;
};

export function createRecorderPanel(recorder: Recorder, options: RecorderPanelOptions): RecorderPanel {
  const meter = createLevelMeter();
  const title = element('span', {}, options.title);
  const time = element('span', { class: 'number recorder-time' }, clock(0));
  let stopped = false;
  const end = async (blobOf: () => Promise<Blob | null>) => {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    options.finish(await blobOf());
  };
  const stop = () => void end(recorder.stop);
  const discard = () =>
    void end(async () => {
      recorder.discard();
      return null;
    });
  const timer = setInterval(() => {
    meter.show(recorder.level());
    time.textContent = clock(recorder.seconds());
    if (recorder.seconds() >= options.maxSeconds) stop();
  }, 60);
  const root = element(
    'div',
    { class: 'recorder' },
    element(
      'p',
      { class: 'recorder-head' },
      element('span', { class: 'recorder-dot', 'aria-hidden': 'true' }),
      title,
      time,
    ),
    meter.root,
    element(
      'div',
      { class: 'row' },
      button('primary', stop, icon('stop'), options.stopLabel),
      button('', discard, 'Discard'),
    ),
  );
  return {
    root,
    stop,
    setTitle: (text) => title.replaceChildren(text),
    setSpeechDetected: meter.setSpeechDetected,
  };
}
