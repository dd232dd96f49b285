/** What of a recording is analysed: channels, tracks or voices. */
import { element } from '../elements.ts';
import type { Report } from './report.ts';

/**
 * The average of all channels, one channel (from 0), one audio track, each of two channels, or each of so many voices on one channel.
 * `best`: as many voices as the average sounds like, and each channel where two differ.
 */
export type Choice = 'best' | 'average' | number | `track-${number}` | 'split' | `voices-${number}`;

/** By their number. */
const voicesText = [
  '',
  'one voice',
  'two voices',
  'three voices',
  'four voices',
  'five voices',
  'six voices',
];
export const countVoices = (count: number) => voicesText[count] ?? `${count} voices`;
const severalVoices = [2, 3, 4, 5, 6];

/** The parts of a form. */
export function partsOf(choice: Choice): Readonly<Record<string, string>> {
  if (typeof choice === 'number') return { channel: String(choice) };
  if (choice === 'split') return { channels: choice };
  if (choice === 'best') return { speakers: 'auto' };
  if (choice.startsWith('track-')) return { track: choice.slice('track-'.length) };
  return choice.startsWith('voices-') ? { speakers: choice.slice('voices-'.length) } : {};
}

/** A baseline is of one speaker. */
export function isOfOne(choice: Choice): boolean {
  return typeof choice === 'number' || !/^(split|voices-)/.test(choice);
}

const nameOf = (choice: Choice) => (typeof choice === 'number' ? `channel-${choice}` : choice);

/** @param voices of the report; null: the models separate none @returns null where there is nothing to choose */
export function createChoice(
  { channels, tracks = 0 }: Pick<Report['audio'], 'channels' | 'tracks'>,
  chosen: Choice,
  voices: number | null,
  onChoice: (choice: Choice) => void,
): HTMLElement | null {
  const numbers = channels > 1 ? Array.from({ length: channels }, (_, index) => index) : [];
  const trackNumbers = Array.from({ length: tracks }, (_, index) => index);
  const choices: readonly (readonly [Choice, string])[] = [
    ...(channels === 2 ? [['split', 'each channel'] as const] : []),
    ['average', channels > 1 ? 'the average of all channels' : countVoices(1)],
    ...numbers.map((index) => [index, `channel ${index}`] as const),
    ...(voices === null ? [] : severalVoices).map(
      (count) => [`voices-${count}`, countVoices(count) + (channels > 1 ? ' on one channel' : '')] as const,
    ),
    ...trackNumbers.map((index) => [`track-${index}`, `audio track ${index}`] as const),
  ];
  if (choices.length === 1) return null;
  const select = element(
    'select',
    { id: 'choice', class: 'input' },
    ...choices.map(([value, text]) => element('option', { value: nameOf(value) }, text)),
  );
  select.value = nameOf(chosen === 'best' ? `voices-${voices ?? 1}` : chosen);
  select.addEventListener('change', () => onChoice(choices[select.selectedIndex]?.[0] ?? 'average'));
  return element('div', { class: 'field choice' }, element('label', { for: 'choice' }, 'Analyse'), select);
}
