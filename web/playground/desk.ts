/** The desk: a recording by drop, file dialog or microphone, a baseline on demand, and the progress of what was sent. */
import { button, element, fold, icon } from '../elements.ts';
import type { Recording } from './analyze.ts';
import { fileName, MicrophoneError, startRecorder } from './recorder.ts';
import { createRecorderPanel, type RecorderPanel } from './recorder-panel.ts';
import { createTimeLeft } from './time-left.ts';
import { bytes, clock, share } from './wording.ts';

/** Opens a panel in place of the buttons, which return with `close`; null when it cannot start yet. */
type OpenPanel = (close: () => void) => Promise<RecorderPanel | null>;

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

/** One microphone at a time. */
let isOpening = false;
export const isRecording = () => document.querySelector('.recorder') !== null;

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
    if (isOpening) return;
    if (isRecording()) return showError('Another recording is running. Stop it first.');
    isOpening = true;
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
      isOpening = false;
      trigger.disabled = false;
    }
  }

  async function openRecorder(close: () => void): Promise<RecorderPanel> {
    const recorder = await startRecorder(() => panel.stop());
    const finish = (blob: Blob | null) => {
      close();
      if (blob !== null) onRecording({ name: fileName(options.stem, blob), blob });
    };
    const panel = createRecorderPanel(recorder, {
      title: 'Recording',
      stopLabel: options.stopLabel,
      maxSeconds,
      finish,
    });
    return panel;
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

// The baseline: a recording of the same person at rest, which can be removed.

type BaselinePanel = {
  show(baseline: Recording): void;
  /** Offers the panel, closed. */
  offer(): void;
  open(): void;
};

/** @param onChange receives the new baseline, or null after its removal */
export function createBaselinePanel(
  host: HTMLElement,
  onChange: (baseline: Recording | null) => void,
): BaselinePanel {
  const input = element('div');
  const panel = fold(
    'Add a baseline',
    element(
      'p',
      { class: 'muted small' },
      'Ten seconds or more of the same person at rest. Load, processing, valence and arousal are then compared with it.',
    ),
    input,
  );
  createRecordingInput(input, {
    title: 'Baseline',
    note: null,
    stem: 'baseline',
    stopLabel: 'Stop and use it',
    openLive: null,
    onRecording: (recording) => {
      show(recording);
      onChange(recording);
    },
  });
  const show = ({ name, blob }: Recording) => {
    const remove = () => {
      host.replaceChildren(panel);
      onChange(null);
    };
    host.replaceChildren(
      element(
        'div',
        { class: 'row' },
        element(
          'p',
          {},
          element('strong', {}, 'Baseline: '),
          `${name}, ${bytes(blob.size)}. Load and processing are compared with it.`,
        ),
        button('plain', remove, 'Remove the baseline'),
      ),
    );
    host.hidden = false;
  };
  const offer = () => {
    host.hidden = false;
  };
  host.replaceChildren(panel);
  return {
    show,
    offer,
    open: () => {
      offer();
      panel.open = true;
      host.scrollIntoView({ block: 'center' });
      input.querySelector('button')?.focus({ preventScroll: true });
    },
  };
}

// The upload and the analysis.

type Progress = {
  start(name: string, cancel: () => void): void;
  /** @param sent share of the upload, 0 to 1; at 1 the analysis runs @param analysed share of the recording, if it is known */
  show(sent: number, analysed?: number | null): void;
  end(): void;
};

export function createProgress(host: HTMLElement, announce: (sentence: string) => void): Progress {
  let bar = element('progress', { max: '1', 'aria-label': 'Upload' });
  let words = element('p', { class: 'small' });
  let name = '';
  let step = '';
  let timeLeft = createTimeLeft();
  const describe = (doing: 'Sending' | 'Analysing', done: number) => {
    if (doing !== step) timeLeft = createTimeLeft();
    step = doing;
    bar.value = done;
    const seconds = timeLeft(done);
    const left = seconds === null ? '' : `, about ${clock(seconds)} left`;
    words.textContent = `${doing} ${name}: ${share(done)}${left}`;
  };
  return {
    start: (sent, cancel) => {
      name = sent;
      step = '';
      bar = element('progress', { max: '1', value: '0', 'aria-label': 'Upload' });
      words = element('p', { class: 'small' }, `Sending ${name}`);
      host.replaceChildren(words, bar, button('plain flush', cancel, 'Cancel'));
      host.hidden = false;
      announce(`Sending ${name}`);
    },
    show: (sent, analysed = null) => {
      if (sent < 1) describe('Sending', sent);
      else if (analysed !== null) describe('Analysing', analysed);
      else {
        bar.removeAttribute('value');
        words.textContent = `Analysing ${name}`;
      }
    },
    end: () => {
      host.hidden = true;
    },
  };
}
