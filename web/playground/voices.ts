/** Two voices of a recording: who sounds how, who talks how much, and what is behind it for one of them at a time. */
import { button, type Child, element } from '../elements.ts';
import { wide } from './card.ts';
import { length, share } from './format.ts';
import { emotionReason, emotionSignals, type Report, type SeveralReport } from './report.ts';
import { verdictOf } from './summary.ts';

export type Voice = { readonly name: string; readonly report: Report };

export function voicesOf(report: SeveralReport): readonly Voice[] {
  return 'channels' in report
    ? report.channels.map((own, index) => ({ name: `Channel ${index}`, report: own }))
    : report.speakers.map((own) => ({ name: `Speaker ${own.speaker}`, report: own }));
}

/** The name of a voice wherever the page shows it: the user may change it. */
export type Names = {
  /** Follows the name. */
  label(index: number): HTMLElement;
  input(index: number): HTMLElement;
};

export function createNames(voices: readonly Voice[]): Names {
  const names = voices.map(({ name }) => name);
  const labels = voices.map((): HTMLElement[] => []);
  return {
    label: (index) => {
      const label = element('span', {}, names[index] ?? '');
      labels[index]?.push(label);
      return label;
    },
    input: (index) => {
      const input = element('input', {
        class: 'input voice-name',
        type: 'text',
        value: names[index] ?? '',
        maxlength: '40',
        'aria-label': `Name of ${names[index]}`,
        autocomplete: 'off',
      });
      input.addEventListener('input', () => {
        names[index] = input.value.trim() || (voices[index]?.name ?? '');
        for (const label of labels[index] ?? []) label.textContent = names[index] ?? '';
      });
      return input;
    },
  };
}

/** The answer: a line for each voice. */
export function createVoicesSummary(
  report: SeveralReport,
  name: string,
  names: Names,
  moments: HTMLElement | null,
  headline: readonly Child[],
): HTMLElement {
  const voices = voicesOf(report);
  const shares = report.conversation?.talk_share;
  return element(
    'div',
    { class: 'summary' },
    element('p', { class: 'muted small' }, `${name} · ${length(report.audio.duration_s)}`),
    element('div', { class: 'headline' }, element('h2', { class: 'headline-word' }, ...headline)),
    element(
      'ul',
      { class: 'voices' },
      ...voices.map((voice, index) =>
        element(
          'li',
          { class: 'voice' },
          names.input(index),
          element('span', {}, ...soundOf(voice)),
          shares == null
            ? null
            : element('span', { class: 'muted small number' }, `${share(shares[index] ?? 0)} of the talk`),
        ),
      ),
    ),
    moments,
  );
}

function soundOf({ report }: Voice): readonly Child[] {
  const signals = emotionSignals(report);
  if (signals !== null) return verdictOf(signals, report.emotion).title;
  return [emotionReason(report) === null ? 'Too little speech' : 'No emotion'];
}

/**
 * Buttons of the voices, above what one of them is made of. `open` it once `root` is in the page.
 * @param show returns a function that stops it
 */
export function createVoiceDetails(
  voices: readonly Voice[],
  names: Names,
  show: (voice: Voice, index: number, host: HTMLElement) => () => void,
): { readonly root: HTMLElement; readonly open: () => void; readonly destroy: () => void } {
  const host = element('div', { class: 'results' });
  let hide = () => {};
  const buttons = voices.map((voice, index) =>
    button('small', () => choose(voice, index), names.label(index)),
  );
  const choose = (voice: Voice, index: number) => {
    hide();
    host.replaceChildren();
    for (const [at, one] of buttons.entries()) one.ariaPressed = String(at === index);
    hide = show(voice, index, host);
  };
  const group = { class: 'row voice-choice', role: 'group', 'aria-label': 'Voice' };
  const root = wide(element('div', { class: 'stack' }, element('div', group, ...buttons), host));
  return { root, open: () => buttons[0]?.click(), destroy: () => hide() };
}
