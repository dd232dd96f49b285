/** Recording input: drop, file dialog or microphone. */
import { button, element, icon } from '../elements.ts';

import { fileName, MicrophoneError, startRecorder } from './microphone.ts';
import { createRecorderPanel, type RecorderPanel } from './recorder-panel.ts';
import type { Recording } from './recording.ts';

/** Opens a panel in place of the buttons, which return with `close`; null when it cannot start yet. */
export type OpenPanel = (close: () => void) => Promise<RecorderPanel | null>;

type RecordingInputOptions = {
  readonly title: string;
  /** Null without a title and a note above the buttons. */
  readonly note: string | null;
  /** Name of a microphone recording, without its extension. */
  readonly stem: string;
  readonly stopLabel: string;
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
  const { note, openLive } = options;
  const input = fileInput(options.title, onRecording);
  const record = button(
    note === null ? '' : 'primary',
    () => open(record, openRecorder),
    icon('record'),
    'Record',
  );
  const actions = element('div', { class: 'row' }, record, chooseButton(input));
  if (openLive !== null) {
    const live = button('', () => open(live, openLive), icon('live'), 'Live');
    record.after(live);
  }
  const head =
    note === null
      ? null
      : element(
          'div',
          { class: 'drop-text' },
          element('h2', {}, options.title),
          element('p', { class: 'muted small' }, note),
        );
  const offer = element('div', { class: 'drop' }, head, actions, input);
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
