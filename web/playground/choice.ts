/** Selects what of a recording is analysed. */
import { element } from '../elements.ts';

/**
 * The average of all channels, one channel (from 0), each of two channels, or each of two voices on one channel. `best`: the
 * average, and each voice where it warns of two.
 */
export type Choice = 'best' | 'average' | number | 'split' | '2';

/** The parts of a form. */
export function partsOf(choice: Choice): Readonly<Record<string, string>> {
  if (typeof choice === 'number') return { channel: String(choice) };
  if (choice === 'split') return { channels: choice };
  return choice === '2' ? { speakers: choice } : {};
}

/** A baseline is of one speaker. */
export function isOfOne(choice: Choice): boolean {
  return choice !== 'split' && choice !== '2';
}

const nameOf = (choice: Choice) => (typeof choice === 'number' ? `channel-${choice}` : choice);

/** @param channels of the recording */
export function createChoice(
  channels: number,
  chosen: Choice,
  onChoice: (choice: Choice) => void,
): HTMLElement {
  const numbers = channels > 1 ? Array.from({ length: channels }, (_, index) => index) : [];
  const choices: readonly (readonly [Choice, string])[] = [
    ...(channels === 2 ? [['split', 'each channel'] as const] : []),
    ['average', channels > 1 ? 'the average of all channels' : 'one voice'],
    ...numbers.map((index) => [index, `channel ${index}`] as const),
    ['2', channels > 1 ? 'two voices on one channel' : 'two voices'],
  ];
  const select = element(
    'select',
    { id: 'choice', class: 'input' },
    ...choices.map(([value, text]) => element('option', { value: nameOf(value) }, text)),
  );
  select.value = nameOf(chosen === 'best' ? 'average' : chosen);
  select.addEventListener('change', () => onChoice(choices[select.selectedIndex]?.[0] ?? 'average'));
  return element('div', { class: 'field choice' }, element('label', { for: 'choice' }, 'Analyse'), select);
}
