/** Takes a recording: dropped, chosen, from the microphone, or the sample. */

import { element } from '../dom.ts';
import { button } from './button.ts';
import { icon } from './icons.ts';
import { fileName, listen, MicrophoneFault } from './microphone.ts';
import type { Recording } from './recording.ts';
import { createTakePanel } from './take-panel.ts';

export type IntakeOptions = {
  readonly title: string;
  readonly note: string;
  /** What a recorded file is called, without its extension. */
  readonly stem: string;
  readonly stopLabel: string;
  /** Where a recording to try is served; null for none. */
  readonly sampleUrl: string | null;
  /** The page's main way in: its button to record stands out. */
  readonly main: boolean;
  readonly onRecording: (recording: Recording) => void;
};

export function createIntake(host: HTMLElement, options: IntakeOptions): void {
  const notice = element('p', { class: 'notice warn', role: 'alert' });
  notice.hidden = true;
  const complain = (sentence: string) => {
    notice.textContent = sentence;
    notice.hidden = false;
  };
  const take = (recording: Recording) => {
    notice.hidden = true;
    options.onRecording(recording);
  };
  const input = fileInput(options.title, take);
  const record = button(options.main ? 'primary' : '', () => void startRecording(), icon('record'), 'Record');
  const actions = element('div', { class: 'row' }, record, chooseButton(input));
  if (options.sampleUrl !== null) actions.append(sampleButton(options.sampleUrl, take, complain));
  const offer = element(
    'div',
    { class: 'drop' },
    element('h2', {}, options.title),
    element('p', { class: 'muted small' }, options.note),
    actions,
    input,
  );
  const zone = element('div', { class: 'zone' }, offer, notice);
  host.append(zone);
  acceptDrops(zone, take);

  async function startRecording() {
    record.disabled = true;
    try {
      const current = await listen();
      notice.hidden = true;
      const panel = createTakePanel(current, options.stopLabel, async (blob) => {
        panel.replaceWith(offer);
        if (blob === null) record.focus();
        else take({ name: fileName(options.stem, blob), blob });
      });
      offer.replaceWith(panel);
      panel.querySelector('button')?.focus();
    } catch (error) {
      complain(error instanceof MicrophoneFault ? error.message : 'The microphone could not be opened.');
    } finally {
      record.disabled = false;
    }
  }
}

function fileInput(title: string, take: (recording: Recording) => void): HTMLInputElement {
  const input = element('input', { type: 'file', accept: 'audio/*,video/*', 'aria-label': title });
  input.hidden = true;
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) take({ name: file.name, blob: file });
    input.value = '';
  });
  return input;
}

function chooseButton(input: HTMLInputElement): HTMLButtonElement {
  return button('', () => input.click(), 'Choose a file');
}

function sampleButton(
  url: string,
  take: (recording: Recording) => void,
  complain: (sentence: string) => void,
): HTMLButtonElement {
  const load = async () => {
    const response = await fetch(url).catch(() => null);
    if (response?.ok) take({ name: 'sample.wav', blob: await response.blob() });
    else complain('The sample could not be loaded. Check that the service is running, then try again.');
  };
  return button('plain', () => void load(), 'Try the sample');
}

function acceptDrops(zone: HTMLElement, take: (recording: Recording) => void): void {
  const over = (event: DragEvent, inside: boolean) => {
    event.preventDefault();
    zone.classList.toggle('over', inside);
  };
  zone.addEventListener('dragover', (event) => over(event, true));
  zone.addEventListener('dragleave', (event) => over(event, false));
  zone.addEventListener('drop', (event) => {
    over(event, false);
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) take({ name: file.name, blob: file });
  });
}
