/** The baseline recording, which can be removed. */

import { button } from '../button.ts';
import { element } from '../dom.ts';
import { bytes } from './format.ts';
import type { Recording } from './recording.ts';
import { createRecordingInput } from './recording-input.ts';

/** @param onChange receives the new baseline, or null after its removal */
export function createBaselinePanel(
  host: HTMLElement,
  onChange: (baseline: Recording | null) => void,
): { show(baseline: Recording): void } {
  const offer = () => {
    host.replaceChildren();
    createRecordingInput(host, {
      title: 'Add a baseline',
      note: 'Optional: ten seconds or more of the same person at rest. Load and processing are then compared with it.',
      stem: 'baseline',
      stopLabel: 'Stop and use it',
      sampleUrl: null,
      main: false,
      openLive: null,
      onRecording: (recording) => {
        show(recording);
        onChange(recording);
      },
    });
  };
  const show = ({ name, blob }: Recording) => {
    const remove = () => {
      offer();
      onChange(null);
    };
    host.replaceChildren(
      element('h2', {}, 'Baseline'),
      element(
        'p',
        { class: 'muted small' },
        `${name}, ${bytes(blob.size)}. Load and processing are compared with it.`,
      ),
      button('plain flush', remove, 'Remove the baseline'),
    );
  };
  offer();
  return { show };
}
