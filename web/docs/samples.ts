/** Code samples: those of one language are shown, in every place, with the address of this service. */
import { button, copyButton } from '../button.ts';
import { element } from '../dom.ts';

export function arrangeSamples(groups: Iterable<HTMLElement>): void {
  const choices: ((language: string) => void)[] = [];
  const choose = (language: string) => {
    for (const show of choices) show(language);
  };
  for (const group of groups) choices.push(arrange(group, choose));
  choose('curl');
}

/** @returns shows the samples of a language; where there are none, the first one stays */
function arrange(group: HTMLElement, choose: (language: string) => void): (language: string) => void {
  const { address = '' } = group.dataset;
  const figures = [...group.querySelectorAll<HTMLElement>('figure')];
  const buttons = figures.map((figure) => {
    const language = figure.dataset.language ?? '';
    const code = figure.querySelector('code');
    const text = (code?.textContent ?? '').replaceAll(address, location.origin);
    if (code) code.textContent = text;
    figure.querySelector('figcaption')?.remove();
    figure.append(copyButton('Copy', text));
    return button('plain', () => choose(language), language);
  });
  group.prepend(
    element('div', { class: 'row languages', role: 'group', 'aria-label': 'Language' }, ...buttons),
  );
  return (language) => {
    const found = figures.findIndex((figure) => figure.dataset.language === language);
    for (const [index, figure] of figures.entries()) {
      figure.hidden = index !== Math.max(0, found);
      buttons[index]?.setAttribute('aria-pressed', String(!figure.hidden));
    }
  };
}
