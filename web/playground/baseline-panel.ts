/** The baseline: a recording of the same person at rest, which is added on demand and can be removed. */
import { button, element, fold } from '../elements.ts';
import { bytes } from './format.ts';
import type { Recording } from './recording.ts';
import { createRecordingInput } from './recording-input.ts';

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
