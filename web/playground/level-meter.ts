/** The microphone level as a bar and as text. */
import { element, percent } from '../dom.ts';

const floorDb = -60;
const words = [
  { above: -6, says: 'Too loud: move away from the microphone' },
  { above: -38, says: 'Good level' },
  { above: -52, says: 'Quiet: come nearer' },
  { above: Number.NEGATIVE_INFINITY, says: 'No voice heard yet: speak' },
] as const;

export type LevelMeter = { readonly root: HTMLElement; show(db: number): void };

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
  const says = element('p', { class: 'small muted' });
  const show = (db: number) => {
    const shown = Math.min(0, Math.max(floorDb, db));
    const word = words.find(({ above }) => db > above)?.says ?? '';
    bar.style.width = percent(1 - shown / floorDb);
    track.setAttribute('aria-valuenow', shown.toFixed(0));
    track.setAttribute('aria-valuetext', word);
    if (says.textContent !== word) says.textContent = word;
  };
  show(floorDb);
  return { root: element('div', { class: 'level' }, track, says), show };
}
