/** The microphone level as a bar and as text. */
import { element, percent } from '../elements.ts';

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

export function createLevelMeter(): LevelMeter {
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
