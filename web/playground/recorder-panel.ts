/** The panel of a recording microphone: its time and its level. */
import { button, element, icon, percent } from '../elements.ts';
import type { Recorder } from './recorder.ts';
import { clock } from './wording.ts';

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

const floorDb = -60;
const goodDb = -38;
const words = [
  { above: -6, label: 'Too loud: move away from the microphone' },
  { above: goodDb, label: 'Good level' },
  { above: -52, label: 'Quiet: come nearer' },
] as const;

type LevelMeter = {
  readonly root: HTMLElement;
  show(db: number): void;
  /** Speech has been detected; a good level counts as speech too. */
  setSpeechDetected(): void;
};

function createLevelMeter(): LevelMeter {
  const bar = element('span', { class: 'level-bar' });
  const track = element(
    'div',
    {
      class: 'level-track',
      role: 'meter',
      'aria-label': 'Microphone level',
      'aria-valuemin': String(floorDb),
      'aria-valuemax': '0',
    },
    bar,
  );
  const text = element('p', { class: 'small muted' });
  let silence = 'No voice yet: speak';
  const setSpeechDetected = () => {
    silence = 'Pause';
  };
  const show = (db: number) => {
    const shown = Math.min(0, Math.max(floorDb, db));
    if (db > goodDb) setSpeechDetected();
    const word = words.find(({ above }) => db > above)?.label ?? silence;
    bar.style.width = percent(1 - shown / floorDb);
    track.setAttribute('aria-valuenow', shown.toFixed(0));
    track.setAttribute('aria-valuetext', word);
    if (text.textContent !== word) text.textContent = word;
  };
  show(floorDb);
  return { root: element('div', { class: 'level' }, track, text), show, setSpeechDetected };
}
