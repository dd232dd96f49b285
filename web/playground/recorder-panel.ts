/** What is seen while the microphone is recorded: the time, the level, and how to end it. */

import { element } from '../dom.ts';
import { button } from './button.ts';
import { clock } from './format.ts';
import { icon } from './icons.ts';
import { createLevelMeter } from './level-meter.ts';
import type { Take } from './microphone.ts';

/** Before the service's own limit of 15 minutes. */
const longestSeconds = 890;

/** @param finish gets the recording, or null when it was discarded */
export function createTakePanel(
  take: Take,
  stopLabel: string,
  finish: (blob: Blob | null) => void,
): HTMLElement {
  const meter = createLevelMeter();
  const time = element('span', { class: 'number take-time' }, clock(0));
  const stop = async () => {
    clearInterval(timer);
    finish(await take.stop());
  };
  const discard = () => {
    clearInterval(timer);
    take.discard();
    finish(null);
  };
  const timer = setInterval(() => {
    meter.show(take.level());
    time.textContent = clock(take.seconds());
    if (take.seconds() >= longestSeconds) void stop();
  }, 60);
  return element(
    'div',
    { class: 'take' },
    element(
      'p',
      { class: 'take-head' },
      element('span', { class: 'take-dot', 'aria-hidden': 'true' }),
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
