/** Recording input: drop, file dialog, microphone or the sample. */

import { button } from '../button.ts';
import { element } from '../dom.ts';
import { icon } from './icons.ts';
import { fileName, MicrophoneError, startRecorder } from './microphone.ts';
import { createRecorderPanel, type RecorderPanel } from './recorder-panel.ts';
import type { Recording } from './recording.ts';

/** Opens a panel in place of the buttons, which return with `close`; null when it cannot start yet. */
export type OpenPanel = (close: () => void) => Promise<RecorderPanel | null>;

type RecordingInputOptions = {
  readonly title: string;
  readonly note: string;
  /** Name of a microphone recording, without its extension. */
  readonly stem: string;
  readonly stopLabel: string;
  /** URL of a sample recording. */
  readonly sampleUrl: string | null;
  /** Whether the record button is the page's primary button. */
  readonly main: boolean;
  readonly onRecording: (recording: Recording) => void;
  /** Null without live mode. */
  readonly openLive: OpenPanel | null;
};

/** Below the service's limit of 15 minutes. */
const maxSeconds = 890;

export function createRecordingInput(host: HTMLElement, options: RecordingInputOptions): void {
  const notice = element('p', { class: 'notice warn', role: 'alert' });
  notice.hidden = true;
  const showError = (sentence: string) => {
    notice.textContent = sentence;
    notice.hidden = false;
  };
  const onRecording = (recording: Recording) => {
    notice.hidden = true;
    options.onRecording(recording);
  };
  const input = fileInput(options.title, onRecording);
  const record = button(
    options.main ? 'primary' : '',
    () => open(record, openRecorder),
    icon('record'),
    'Record',
  );
  const actions = element('div', { class: 'row' }, record, chooseButton(input));
  const { openLive } = options;
  if (openLive !== null) {
    const live = button('', () => open(live, openLive), icon('live'), 'Live');
    record.after(live);
  }
  if (options.sampleUrl !== null) actions.append(sampleButton(options.sampleUrl, onRecording, showError));
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
  acceptDrops(zone, onRecording);

  async function open(trigger: HTMLButtonElement, openPanel: OpenPanel) {
    trigger.disabled = true;
    try {
      const panel = await openPanel(() => {
        panel?.root.replaceWith(offer);
        trigger.focus();
      });
      if (panel === null) return;
      notice.hidden = true;
      offer.replaceWith(panel.root);
      panel.root.querySelector('button')?.focus();
    } catch (error) {
      showError(error instanceof MicrophoneError ? error.message : 'The microphone could not be opened.');
    } finally {
      trigger.disabled = false;
    }
  }

  async function openRecorder(close: () => void): Promise<RecorderPanel> {
    const recorder = await startRecorder();
    const finish = (blob: Blob | null) => {
      close();
      if (blob !== null) onRecording({ name: fileName(options.stem, blob), blob });
    };
    return createRecorderPanel(recorder, {
      title: 'Recording',
      stopLabel: options.stopLabel,
      maxSeconds,
      finish,
    });
  }
}

function fileInput(title: string, onRecording: (recording: Recording) => void): HTMLInputElement {
  const input = element('input', { type: 'file', accept: 'audio/*,video/*', 'aria-label': title });
  input.hidden = true;
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) onRecording({ name: file.name, blob: file });
    input.value = '';
  });
  return input;
}

function chooseButton(input: HTMLInputElement): HTMLButtonElement {
  return button('', () => input.click(), 'Choose a file');
}

function sampleButton(
  url: string,
  onRecording: (recording: Recording) => void,
  showError: (sentence: string) => void,
): HTMLButtonElement {
  const load = async () => {
    const response = await fetch(url).catch(() => null);
    if (response?.ok) onRecording({ name: 'sample.wav', blob: await response.blob() });
    else showError('The sample could not be loaded. Check that the service is running, then try again.');
  };
  return button('plain', () => void load(), 'Try the sample');
}

function acceptDrops(zone: HTMLElement, onRecording: (recording: Recording) => void): void {
  const over = (event: DragEvent, inside: boolean) => {
    event.preventDefault();
    zone.classList.toggle('over', inside);
  };
  zone.addEventListener('dragover', (event) => over(event, true));
  zone.addEventListener('dragleave', (event) => over(event, false));
  zone.addEventListener('drop', (event) => {
    over(event, false);
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) onRecording({ name: file.name, blob: file });
  });
}
