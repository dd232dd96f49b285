/** Panel of a running microphone recording: time, level, stop and discard. */

import { element } from '../dom.ts';
import { button } from './button.ts';
import { clock } from './format.ts';
import { icon } from './icons.ts';
import { createLevelMeter } from './level-meter.ts';
import type { Recorder } from './microphone.ts';

/** Below the service's limit of 15 minutes. */
const maxSeconds = 890;

/** @param finish receives the recording, or null after a discard */
export function createRecorderPanel(
  recorder: Recorder,
  stopLabel: string,
  finish: (blob: Blob | null) => void,
): HTMLElement {
  const meter = createLevelMeter();
  const time = element('span', { class: 'number recorder-time' }, clock(0));
  const stop = async () => {
    clearInterval(timer);
    finish(await recorder.stop());
  };
  const discard = () => {
    clearInterval(timer);
    recorder.discard();
    finish(null);
  };
  const timer = setInterval(() => {
    meter.show(recorder.level());
    time.textContent = clock(recorder.seconds());
    if (recorder.seconds() >= maxSeconds) void stop();
  }, 60);
  return element(
    'div',
    { class: 'recorder' },
    element(
      'p',
      { class: 'recorder-head' },
      element('span', { class: 'recorder-dot', 'aria-hidden': 'true' }),
      'Recording ',
      time,
    ),
    meter.root,
    element(
      'div',
      { class: 'row' },
      button('primary', () => void stop(), icon('stop'), stopLabel),
      button('', discard, 'Discard'),
    ),
  );
}
