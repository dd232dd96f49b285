/** Progress of the upload and the analysis. */
import { button, element } from '../elements.ts';

import { share } from './format.ts';

export type Progress = {
  start(name: string, cancel: () => void): void;
  /** @param sent share of the upload, 0 to 1; at 1 the analysis runs @param analysed share of the recording, if it is known */
  show(sent: number, analysed?: number | null): void;
  end(): void;
};

export function createProgress(host: HTMLElement, announce: (sentence: string) => void): Progress {
  let bar = element('progress', { max: '1', 'aria-label': 'Upload' });
  let words = element('p', { class: 'small' });
  let name = '';
  return {
    start: (sent, cancel) => {
      name = sent;
      bar = element('progress', { max: '1', value: '0', 'aria-label': 'Upload' });
      words = element('p', { class: 'small' }, `Sending ${name}`);
      host.replaceChildren(words, bar, button('plain flush', cancel, 'Cancel'));
      host.hidden = false;
      announce(`Sending ${name}`);
    },
    show: (sent, analysed = null) => {
      if (sent < 1) {
        bar.value = sent;
        words.textContent = `Sending ${name}: ${share(sent)}`;
      } else if (analysed !== null) {
        bar.value = analysed;
        words.textContent = `Analysing ${name}: ${share(analysed)}`;
      } else {
        bar.removeAttribute('value');
        words.textContent = `Analysing ${name}`;
      }
    },
    end: () => {
      host.hidden = true;
    },
  };
}
