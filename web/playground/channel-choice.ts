/** Selects the channel of a recording. */
import { element } from '../dom.ts';

/** Null for mono recordings. */
export function createChannelChoice(
  channels: number,
  chosen: number | null,
  onChannel: (channel: number | null) => void,
): HTMLElement | null {
  if (channels < 2) return null;
  const option = (value: string, text: string) => element('option', { value }, text);
  const select = element(
    'select',
    { id: 'channel', class: 'input' },
    option('', 'the average of all'),
    ...Array.from({ length: channels }, (_, index) => option(String(index), `channel ${index + 1}`)),
  );
  select.value = chosen === null ? '' : String(chosen);
  select.addEventListener('change', () => onChannel(select.value === '' ? null : Number(select.value)));
  return element(
    'div',
    { class: 'field channel-choice' },
    element('label', { for: 'channel' }, 'Analyse'),
    select,
  );
}
