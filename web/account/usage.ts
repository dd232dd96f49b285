/** The usage of the tokens of an account: the sums of each token, and those of each day. */
import type { AccountUsageJson, UsageDayJson } from '../../src/service/api/usage-schemas.ts';
import { byId, element } from '../elements.ts';
import { read } from './requests.ts';

type Counts = Omit<UsageDayJson, 'date'>;

const rows = byId('usage-rows', HTMLElement);
const dayRows = byId('usage-day-rows', HTMLElement);

/** @param email that of the session; tokens of other accounts are shown with theirs */
export async function showUsage(email: string): Promise<void> {
  const { since, tokens } = await read<AccountUsageJson>('usage');
  byId('usage-since', HTMLElement).textContent = since;
  rows.replaceChildren(
    ...tokens.map(({ name, purpose, email: owner, days }) => {
      const other = owner === email ? null : element('span', { class: 'tag' }, owner ?? 'command line');
      const note = purpose === null ? null : element('span', { class: 'small muted' }, purpose);
      const title = element('th', { scope: 'row' }, name, ' ', other, ' ', note);
      const last = cell('Last day', days[0]?.date ?? '');
      return element('tr', {}, title, ...cells(sum(days)), last);
    }),
  );
  const days = tokens.flatMap((token) => token.days);
  const dates = [...new Set(days.map(({ date }) => date))].sort().reverse();
  dayRows.replaceChildren(
    ...dates.map((date) => {
      const counts = sum(days.filter((day) => day.date === date));
      return element('tr', {}, element('th', { scope: 'row' }, date), ...cells(counts));
    }),
  );
  byId('no-usage', HTMLElement).hidden = tokens.length > 0;
  byId('usage-days', HTMLElement).hidden = tokens.length === 0;
}

function sum(days: readonly Counts[]): Counts {
  const total = (field: keyof Counts) => days.reduce((all, day) => all + day[field], 0);
  return { requests: total('requests'), errors: total('errors'), audio_s: total('audio_s') };
}

function cells({ requests, errors, audio_s }: Counts): HTMLElement[] {
  return [
    cell('Requests', requests.toLocaleString('en')),
    cell('Errors', errors.toLocaleString('en')),
    cell('Audio', clock(audio_s)),
  ];
}

function cell(label: string, text: string): HTMLElement {
  return element('td', { 'data-label': label }, text);
}

/** As h:mm:ss. */
function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
